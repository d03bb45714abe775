//! `preflight`: what a pod sees of its fabric on its node, judged before training starts. Everything here takes bytes that
//! the shell read (`pod_agent`), and gives verdicts and texts.

pub mod expect;
