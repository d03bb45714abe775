//! What a release is made with: the recipe, workflows, the krew manifest, the image.

mod image;
mod recipe;
mod workflows;

use crate::support::suite::Suite;

pub(crate) fn add(suite: &mut Suite) {
    workflows::add(suite);
    recipe::add(suite);
    image::add(suite);
}
