//! What a release is made with: workflows, the krew manifest, the image.

mod image;
mod workflows;

use crate::support::suite::Suite;

pub(crate) fn add(suite: &mut Suite) {
    workflows::add(suite);
    image::add(suite);
}
