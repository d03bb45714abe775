//! Three replicas, two configurations, one Secret, and everything that can go wrong between two writes: deaths, lost
//! races, looks that are old when they are acted upon, clocks that differ, deleted and spoilt objects. The functions
//! are those that run; only the cluster is made up.

use super::ca_steps::{Change, Step, next, record_after_change};
use super::what_ca_bundles_hold::Look;
use super::{Authority, Key, Leaf, Lifetimes, Marks, Record, Seen, Signer, leaf_is_due};
use proptest::prelude::*;

const LIVES: Lifetimes = Lifetimes { ca: 2000, leaf: 120, soak: 20, skew: 5, tick: 5, settle: 2 };

/// What a replica knows from its last look.
#[derive(Clone)]
struct View {
    now: i64,
    secret: Option<(u64, Record)>,
    bundles: [(u64, String); 2],
    seen: Seen,
}

impl View {
    fn looks(&self) -> Vec<Look> {
        self.bundles.iter().map(|(_, b)| Look::Present(vec![b.clone().into_bytes()])).collect()
    }
}

#[derive(Default)]
struct Replica {
    offset: i64,
    marks: Marks,
    /// CaBundles that were read some time before the Secret is.
    half: Option<[(u64, String); 2]>,
    view: Option<View>,
    leaf: Option<Leaf>,
    known: Vec<Authority>,
    trusted: Option<(String, i64)>,
    verified: Option<i64>,
    /// Whether it was ready once: from then on it is called.
    called: bool,
    /// Whether its clock is off by more than is borne: nothing is asked of it, and much of the others.
    wild: bool,
}

struct World {
    now: i64,
    version: u64,
    made: u32,
    /// Every CA that was ever made.
    authorities: Vec<Authority>,
    secret: Option<(u64, Record)>,
    bundles: [(u64, String); 2],
    /// Every caBundle with the time from which on it was stored.
    past: [Vec<(i64, String)>; 2],
    replicas: [Replica; 3],
    /// Somebody has changed a caBundle, and not everything is well again.
    dirty: bool,
    changes: Vec<Change>,
}

fn trusts(bundle: &str, pem: &str) -> bool {
    bundle.contains(pem)
}

impl World {
    fn new(offsets: [i64; 3]) -> Self {
        Self {
            now: 1_000_000,
            version: 0,
            made: 0,
            authorities: Vec::new(),
            secret: None,
            bundles: [(0, String::new()), (0, String::new())],
            past: [vec![(0, String::new())], vec![(0, String::new())]],
            replicas: offsets.map(|offset| Replica { offset, ..Replica::default() }),
            dirty: false,
            changes: Vec::new(),
        }
    }

    fn version(&mut self) -> u64 {
        self.version += 1;
        self.version
    }

    fn store(&mut self, number: usize, bundle: String) {
        self.past[number].push((self.now, bundle.clone()));
        self.bundles[number] = (self.version(), bundle);
    }

    fn look(&mut self, r: usize) {
        let replica = &mut self.replicas[r];
        let now = self.now + replica.offset;
        let bundles = replica.half.take().unwrap_or_else(|| self.bundles.clone());
        let mut view = View { now, secret: self.secret.clone(), bundles, seen: Seen::default() };
        if let Some((_, record)) = &view.secret {
            view.seen = replica.marks.record_and_measure(record, &view.looks(), self.now);
        }
        if let Some((_, record)) = &view.secret
            && let Ok(current) = &record.current
        {
            let pem = &current.authority.pem;
            if !view.bundles.iter().all(|(_, bundle)| trusts(bundle, pem)) {
                replica.trusted = None;
            } else if replica.trusted.as_ref().is_none_or(|(known, _)| known != pem) {
                replica.trusted = Some((pem.clone(), self.now));
            }
        }
        replica.view = Some(view);
    }

    fn act(&mut self, r: usize) {
        let Some(view) = self.replicas[r].view.take() else { return };
        let record = view.secret.as_ref().map(|(_, record)| record);
        let looks = view.looks();
        self.sign(r, &view, record, &looks);
        match next(record, &looks, &[false, false], true, (view.now, view.seen), &LIVES) {
            Step::Rest => {}
            Step::Publish(number) => {
                if self.bundles[number].0 == view.bundles[number].0 {
                    self.store(number, record.unwrap().bundle());
                }
            }
            Step::Write(change) => self.write(r, &view, change),
        }
    }

    fn sign(&mut self, r: usize, view: &View, record: Option<&Record>, looks: &[Look]) {
        let now = self.now;
        let replica = &mut self.replicas[r];
        // As Go does: the leaf and its CA must be valid now (crypto/x509, isValid).
        let made = self.authorities.clone();
        let verifies = |leaf: &Leaf| {
            (leaf.from..leaf.until).contains(&view.now)
                && made.iter().any(|ca| ca.pem == leaf.issuer && ca.is_valid_at(view.now))
                && view.bundles.iter().all(|(_, b)| trusts(b, &leaf.issuer))
        };
        if let Some(record) = record {
            let settled = replica.trusted.as_ref().is_some_and(|(_, since)| now - since >= LIVES.settle);
            let well = replica.leaf.as_ref().is_some_and(verifies);
            // Who slept through the life of its leaf is believed by nobody, and is not ready.
            replica.called &= replica.leaf.as_ref().is_none_or(|leaf| view.now < leaf.until);
            if leaf_is_due(replica.leaf.as_ref(), record, looks, (true, well, settled), view.now).is_some() {
                let signer = record.signer_valid_at(view.now).unwrap();
                let until = (view.now + LIVES.leaf).min(signer.authority.until);
                let renewal = LIVES.renew_at(view.now, until, 500);
                let issuer = signer.authority.pem.clone();
                replica.known.insert(0, signer.authority.clone());
                let from = view.now - LIVES.backdate();
                replica.leaf = Some(Leaf { issuer, from, signed: view.now, until, renewal });
                replica.verified = None;
            }
        }
        if replica.leaf.as_ref().is_some_and(verifies) {
            let since = *replica.verified.get_or_insert(now);
            replica.called |= now - since >= LIVES.settle;
        } else {
            replica.verified = None;
        }
    }

    fn write(&mut self, r: usize, view: &View, change: Change) {
        let made = change.creates_ca().then(|| {
            self.made += 1;
            let pem = format!("<{}>", self.made);
            let from = view.now - LIVES.backdate();
            let authority = Authority { pem, from, until: view.now + LIVES.ca, name: None, signs: true };
            self.authorities.push(authority.clone());
            Signer { authority, key: Key(String::new()) }
        });
        let mut trusted = self.replicas[r].known.clone();
        for (_, bundle) in &view.bundles {
            trusted.extend(bundle.split_inclusive('>').filter(|pem| pem.starts_with('<')).map(|pem| {
                Authority { pem: pem.to_owned(), from: 0, until: i64::MAX, name: None, signs: true }
            }));
        }
        let read = view.secret.as_ref();
        if self.secret.as_ref().map(|(version, _)| *version) != read.map(|(version, _)| *version) {
            return;
        }
        let record =
            record_after_change(read.map(|(_, record)| record), change, made, &trusted, view.now).unwrap();
        if change == Change::Switch && !self.dirty {
            self.soaked(&record);
        }
        if let Some((_, before)) = &view.secret {
            let earlier =
                |now: Option<i64>, then: Option<i64>| now.zip(then).is_some_and(|(now, then)| now < then);
            assert!(
                !earlier(record.soaking_since, before.soaking_since),
                "{change:?}: {before:?} to {record:?}"
            );
            assert!(!earlier(record.switched_at, before.switched_at), "{change:?}: {before:?} to {record:?}");
        }
        self.secret = Some((self.version(), record));
        self.changes.push(change);
    }

    /// That the CA which signs from now on was in every caBundle for as long as it should, by the true time.
    fn soaked(&self, record: &Record) {
        let pem = &record.current.as_ref().unwrap().authority.pem;
        for past in &self.past {
            let old = past.iter().rposition(|(at, _)| *at <= self.now - LIVES.soak).unwrap_or(0);
            let short = past[old..].iter().find(|(_, bundle)| !trusts(bundle, pem));
            assert!(short.is_none(), "at {}: switch to {pem}, and {short:?}", self.now);
        }
    }

    fn kill(&mut self, r: usize) {
        let Replica { offset, wild, .. } = self.replicas[r];
        self.replicas[r] = Replica { offset, wild, ..Replica::default() };
    }

    /// The first invariant, for every caBundle that an API server may go by.
    fn chains(&self) -> Result<(), String> {
        for (r, replica) in self.replicas.iter().enumerate() {
            let Some(leaf) = &replica.leaf else { continue };
            if !replica.called || replica.wild || leaf.until <= self.now - LIVES.skew {
                continue;
            }
            for past in &self.past {
                let old = past.iter().rposition(|(at, _)| *at <= self.now - LIVES.settle).unwrap_or(0);
                for (at, bundle) in &past[old..] {
                    if !trusts(bundle, &leaf.issuer) {
                        return Err(format!(
                            "at {}: replica {r} serves a leaf of {} and the caBundle of {at} is {bundle}; {:?}",
                            self.now, leaf.issuer, self.changes
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    fn check(&mut self) -> Result<(), String> {
        let chains = self.chains();
        if self.dirty {
            let settled =
                |past: &Vec<(i64, String)>| past.last().is_some_and(|(at, _)| self.now - at >= LIVES.settle);
            self.dirty = chains.is_err() || self.is_well().is_err() || !self.past.iter().all(settled);
            return Ok(());
        }
        chains
    }

    /// Everybody looks and acts.
    fn round(&mut self) {
        for r in 0..3 {
            self.look(r);
            self.act(r);
        }
        self.now += 1;
    }

    /// That all is well within a few rounds; a step may be under way.
    fn settles(&mut self) -> Result<(), String> {
        let mut last = Ok(());
        for _ in 0..8 {
            last = self.is_well();
            if last.is_ok() {
                break;
            }
            self.round();
        }
        last
    }

    fn is_well(&self) -> Result<(), String> {
        let (_, record) = self.secret.as_ref().ok_or("no Secret")?;
        record.signer_valid_at(self.now)?;
        let ready = self.replicas.iter().all(|r| r.wild || (r.called && r.verified.is_some()));
        if !ready || self.bundles.iter().any(|(_, bundle)| *bundle != record.bundle()) {
            return Err(format!("ready: {ready}, {:?}, {record:?}", self.bundles));
        }
        self.chains()
    }
}

#[derive(Debug, Clone)]
enum Event {
    Wait(i64),
    Glance(usize),
    Look(usize),
    Act(usize),
    Round,
    Kill(usize),
    Rotate,
    Spoil(usize, u8),
    Delete,
    Garble,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => prop_oneof![Just(1_i64), Just(2), Just(7), Just(31), Just(60), Just(140), Just(1100)].prop_map(Event::Wait),
        3 => (0..3_usize).prop_map(Event::Glance),
        8 => (0..3_usize).prop_map(Event::Look),
        8 => (0..3_usize).prop_map(Event::Act),
        6 => Just(Event::Round),
        1 => (0..3_usize).prop_map(Event::Kill),
        2 => Just(Event::Rotate),
        1 => (0..2_usize, 0..3_u8).prop_map(|(number, how)| Event::Spoil(number, how)),
        1 => Just(Event::Delete),
        1 => Just(Event::Garble),
    ]
}

fn apply(world: &mut World, event: &Event, spoilt: &mut u32) {
    match *event {
        Event::Wait(seconds) => world.now += seconds,
        Event::Glance(r) => world.replicas[r].half = Some(world.bundles.clone()),
        Event::Look(r) => world.look(r),
        Event::Act(r) => world.act(r),
        Event::Round => world.round(),
        Event::Kill(r) => world.kill(r),
        Event::Rotate => {
            let version = world.version();
            if let Some((known, record)) = &mut world.secret {
                (record.rotate, *known) = (true, version);
            }
        }
        Event::Spoil(number, how) => {
            let old = world.past[number].first().map(|(_, bundle)| bundle.clone()).unwrap_or_default();
            world.store(number, [String::new(), "garbage".to_owned(), old][usize::from(how)].clone());
            world.dirty = true;
        }
        // Each leaves a CA of the past behind, and of those a few are kept.
        Event::Delete if *spoilt < 3 => {
            *spoilt += 1;
            world.secret = None;
        }
        Event::Garble if *spoilt < 3 => {
            *spoilt += 1;
            let version = world.version();
            if let Some((known, record)) = &mut world.secret {
                (record.current, *known) = (Err("garbage".to_owned()), version);
            }
        }
        Event::Delete | Event::Garble => {}
    }
}

proptest! {
    /// Deaths, races, skew, deleted and garbled Secrets break nothing; damaged caBundles are repaired.
    #[test]
    fn whatever_happens_leaves_are_trusted_and_all_is_well_in_the_end(
        offsets in prop::array::uniform3(-LIVES.skew..=LIVES.skew),
        events in prop::collection::vec(event(), 1..160),
    ) {
        let mut world = World::new(offsets);
        let mut spoilt = 0;
        for event in &events {
            apply(&mut world, event, &mut spoilt);
            world.check().map_err(TestCaseError::fail)?;
        }
        for _ in 0..40 {
            world.round();
            world.check().map_err(TestCaseError::fail)?;
        }
        prop_assert!(!world.dirty);
        world.settles().map_err(TestCaseError::fail)?;
    }

}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, ..ProptestConfig::default() })]

    /// Nothing but time and deaths: rotations come by themselves, in their order, without an emergency.
    #[test]
    fn rotations_come_by_themselves(
        offsets in prop::array::uniform3(-LIVES.skew..=LIVES.skew),
        deaths in prop::collection::vec((0..6000_i64, 0..3_usize), 0..20),
    ) {
        let mut world = World::new(offsets);
        let start = world.now;
        while world.now < start + 6000 {
            let second = world.now - start;
            for (_, r) in deaths.iter().filter(|(at, _)| *at == second) {
                world.kill(*r);
            }
            world.round();
            world.check().map_err(TestCaseError::fail)?;
        }
        world.settles().map_err(TestCaseError::fail)?;
        let count = |change: Change| world.changes.iter().filter(|c| **c == change).count();
        prop_assert_eq!((count(Change::Create), count(Change::Replace), count(Change::Promote)), (1, 0, 0));
        prop_assert!(count(Change::Switch) >= 5 && count(Change::Drain) >= 5, "{:?}", world.changes);
        prop_assert_eq!(world.secret.as_ref().map(|(_, r)| r.generation), Some(1 + count(Change::Switch) as u64));
    }
}

/// A clock that was hours ahead and is set right: what was made meanwhile is not valid yet, and is replaced.
#[test]
fn what_is_not_valid_yet_is_replaced() {
    let mut world = World::new([500, 500, 500]);
    (0..10).for_each(|_| world.round());
    world.replicas.iter_mut().for_each(|replica| replica.offset = 0);
    (0..10).for_each(|_| world.round());
    world.is_well().unwrap();
    let count = |change: Change| world.changes.iter().filter(|c| **c == change).count();
    assert_eq!((count(Change::Create), count(Change::Replace)), (1, 1), "{:?}", world.changes);
    // A leaf alone: its CA is old enough.
    world.now += 600;
    (0..10).for_each(|_| world.round());
    world.replicas[0].offset = 200;
    world.replicas[0].wild = true;
    (0..10).for_each(|_| world.round());
    world.replicas[0].offset = 0;
    world.replicas[0].wild = false;
    (0..10).for_each(|_| world.round());
    world.is_well().unwrap();
}

/// A replica that is behind by more than is borne finds the next CA not valid yet: the rotation goes on all the same.
#[test]
fn clocks_that_differ_much_do_not_stage_for_ever() {
    for offsets in [[500, 0, -300], [0, -300, 500], [-300, 500, 0]] {
        let mut world = World::new([0; 3]);
        (0..10).for_each(|_| world.round());
        world.now += 1100;
        for (replica, offset) in world.replicas.iter_mut().zip(offsets) {
            (replica.offset, replica.wild) = (offset, offset != 0);
        }
        (0..100).for_each(|_| world.round());
        let count = |change: Change| world.changes.iter().filter(|c| **c == change).count();
        let staged = count(Change::Stage);
        assert!(staged <= 3 && count(Change::Unstage) == 0, "{:?}", world.changes);
        assert!(count(Change::Switch) == 1 && count(Change::Replace) == 0, "{:?}", world.changes);
        world.is_well().unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// One clock goes where it likes: the replicas whose clocks are right are believed all the same, marks never go
    /// back, no CA signs before its time, and in the end all is well.
    #[test]
    fn one_wild_clock_harms_nobody_else(
        offsets in prop::array::uniform3(-LIVES.skew..=LIVES.skew),
        jumps in prop::collection::vec((0..3000_i64, -800..800_i64), 1..8),
        rotations in prop::collection::vec(0..3000_i64, 0..4),
    ) {
        let mut world = World::new(offsets);
        world.replicas[2].wild = true;
        let start = world.now;
        for second in 0..3000 {
            if let Some((_, offset)) = jumps.iter().find(|(at, _)| *at == second) {
                world.replicas[2].offset = *offset;
            }
            if rotations.contains(&second) {
                apply(&mut world, &Event::Rotate, &mut 0);
            }
            prop_assert_eq!(world.now, start + second);
            world.round();
            world.check().map_err(TestCaseError::fail)?;
        }
        // It was not ready by its own clock, and nobody calls it before it is.
        let replica = &mut world.replicas[2];
        (replica.offset, replica.wild, replica.called) = (0, false, false);
        for _ in 0..40 {
            world.round();
            world.check().map_err(TestCaseError::fail)?;
        }
        world.settles().map_err(TestCaseError::fail)?;
    }
}

/// Every state that a death can leave behind, from each of which a new replica alone gets everything well again.
#[test]
fn a_death_after_any_write_is_made_good_by_who_comes() {
    let mut deaths = 0;
    // The write after which everybody dies, counted over two rotations.
    for fatal in 1..40 {
        let mut world = World::new([0, 0, 0]);
        let mut writes = 0;
        while writes < fatal && world.now < 1_000_000 + 2_600 {
            let before = world.version;
            world.look(0);
            world.act(0);
            writes += usize::from(world.version != before);
            world.now += 1;
        }
        if writes < fatal {
            break;
        }
        deaths += 1;
        (0..3).for_each(|r| world.kill(r));
        for _ in 0..10 {
            world.round();
            world.check().unwrap();
        }
        world.is_well().unwrap_or_else(|why| panic!("after write {fatal}: {why}"));
    }
    assert!(deaths >= 14, "{deaths}");
}
