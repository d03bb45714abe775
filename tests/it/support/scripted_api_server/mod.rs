//! An API server by script, for servers and commands that need one.

pub(crate) mod connection;
pub(crate) mod discovery;
pub(crate) mod http;
pub(crate) mod script;
