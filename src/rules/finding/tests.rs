use super::*;

#[test]
fn only_places_that_are_told_are_looked_for() {
    let meta = crate::rules::RULES.first().unwrap().meta();
    let (mut out, mut asked) = (Vec::new(), 0);
    let mut findings = Findings::new(meta, &mut out);
    for _ in 0..3 * MAX_PER_RULE {
        let place = || {
            asked += 1;
            Spot { line: 1, column: 1 }
        };
        findings.add_within_as(Severity::Info, "/spec/config", place, "a", "b");
    }
    assert_eq!((out.len(), asked), (MAX_PER_RULE, MAX_PER_RULE));
}
