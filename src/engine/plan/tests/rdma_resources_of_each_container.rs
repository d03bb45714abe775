//! Quantities of RDMA resources.

use super::Case;

#[test]
fn a_quantity_that_is_not_a_number_of_units_is_not_changed() {
    for quantity in ["0.5", "-1", "-0.5", "two"] {
        let mut case = Case::new();
        case.container(0)["resources"]["limits"]["example.com/vf"] = quantity.into();
        assert!(case.only("0 limits").is_empty(), "{quantity}");
    }
}
