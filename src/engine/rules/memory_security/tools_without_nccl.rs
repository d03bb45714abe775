//! Programs that use several accelerators without NCCL.

use crate::pod::pod_fields::Container;
use memchr::memmem::Finder;
use std::sync::LazyLock;

/// NVIDIA's bandwidth test (NVIDIA/nvbandwidth), the diagnostics of DCGM (`dcgmi diag`, `dcgmproftester`) and gpu-burn
/// (wilicc/gpu-burn): each drives all accelerators of a node by itself.
const TOOLS: [&str; 5] = ["nvbandwidth", "dcgm", "gpu-burn", "gpu_burn", "gpuburn"];

/// Parts of these names, of which nearly every text has none.
static PARTS: LazyLock<[Finder<'static>; 3]> = LazyLock::new(|| ["nvband", "dcgm", "burn"].map(Finder::new));

/// What runs ranks, or may: then a tool is only one step of the command.
static RANKS: LazyLock<[Finder<'static>; 7]> = LazyLock::new(|| {
    ["nccl", "torch", "python", "deepspeed", "accelerate", "vllm", "sglang"].map(Finder::new)
});

/// Whether container `c` names such a program, in CEL. The cost of a match grows with the text, so a
/// long one counts as if it did.
pub(super) const NAMES_TOOL_IN_CEL: &str = "((c.?command.orValue([]) + c.?args.orValue([]) + [c.?image.orValue('')]).exists(t,\n\
                              t.size() > 1000 || t.matches('nvbandwidth|dcgm|gpu[-_]?burn')))";

/// Whether a container runs such a program and nothing else that is seen.
pub(super) fn runs_only_tool_without_nccl(container: &Container<'_>) -> bool {
    // The last part of an image's path names the program; the parts before it name who made the image.
    let image = container.image.as_deref().unwrap_or_default();
    let image = image.rsplit('/').next().unwrap_or_default();
    let has =
        |words: &[Finder<'_>], text: &str| words.iter().any(|word| word.find(text.as_bytes()).is_some());
    let names_tool = |text: &str| has(&*PARTS, text) && TOOLS.iter().any(|tool| text.contains(tool));
    let tool = names_tool(image) || container.command_and_argument_words().any(names_tool);
    tool && !has(&*RANKS, image) && !container.command_and_argument_words().any(|text| has(&*RANKS, text))
}
