//! Counters by several labels whose values are known from the start. Counting is one atomic addition: it takes no lock and
//! allocates nothing.

use crate::telemetry::metric_table::Metric;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Values of one or several labels, by index.
pub(super) trait LabelValues: fmt::Debug + Send + Sync + 'static {
    /// Number of indices.
    fn len(&self) -> usize;
    /// Whether an index has values yet.
    fn has_values_yet(&self, index: usize) -> bool {
        index < self.len()
    }
    /// The values at an index.
    fn values(&self, index: usize) -> Vec<Arc<str>>;
}

/// Fixed values: each is a list with one value for each label.
#[derive(Debug)]
pub(super) struct Fixed(Vec<Vec<Arc<str>>>);

impl Fixed {
    /// Of one label.
    pub(super) fn of(values: impl IntoIterator<Item = &'static str>) -> Arc<Self> {
        Arc::new(Self(values.into_iter().map(|value| vec![Arc::from(value)]).collect()))
    }

    /// Of two labels.
    pub(super) fn of_two(values: impl IntoIterator<Item = (&'static str, &'static str)>) -> Arc<Self> {
        Arc::new(Self(values.into_iter().map(|(a, b)| vec![Arc::from(a), Arc::from(b)]).collect()))
    }
}

impl LabelValues for Fixed {
    fn len(&self) -> usize {
        self.0.len()
    }
    fn values(&self, index: usize) -> Vec<Arc<str>> {
        self.0.get(index).cloned().unwrap_or_default()
    }
}

/// Whether a counter is shown while it is zero, by its indices. A series that begins with its first event hides this event
/// from `increase()`.
pub(super) type WhichZerosAreShown = fn(&[usize]) -> bool;

/// Every counter is shown from the start.
pub(super) const ALL_ZEROS_SHOWN: WhichZerosAreShown = |_| true;
/// No counter is shown before its first event.
pub(super) const NO_ZEROS_SHOWN: WhichZerosAreShown = |_| false;

/// The counters of one metric.
#[derive(Debug)]
pub(super) struct Grid {
    metric: Metric,
    axes: Vec<Arc<dyn LabelValues>>,
    cells: Box<[AtomicU64]>,
    zeros: WhichZerosAreShown,
}

impl Grid {
    pub(super) fn new(
        metric: Metric,
        axes: Vec<Arc<dyn LabelValues>>,
        zeros: WhichZerosAreShown,
    ) -> Arc<Self> {
        let size = axes.iter().map(|axis| axis.len()).product();
        let cells = std::iter::repeat_with(AtomicU64::default).take(size).collect();
        Arc::new(Self { metric, axes, cells, zeros })
    }

    /// Counts at one index for each axis. An index beyond its axis counts nowhere.
    pub(super) fn count<const N: usize>(&self, indices: [usize; N], by: usize) {
        let mut cell = Some(0);
        for (axis, index) in self.axes.iter().zip(indices) {
            cell = cell.filter(|_| index < axis.len()).map(|cell| cell * axis.len() + index);
        }
        if let Some(counter) = cell.and_then(|cell| self.cells.get(cell)) {
            counter.fetch_add(u64::try_from(by).unwrap_or_default(), Ordering::Relaxed);
        }
    }

    /// The index of each axis at a cell.
    fn indices(&self, mut cell: usize) -> Vec<usize> {
        let mut indices = Vec::with_capacity(self.axes.len());
        for axis in self.axes.iter().rev() {
            indices.push(cell % axis.len().max(1));
            cell /= axis.len().max(1);
        }
        indices.reverse();
        indices
    }

    /// Whether a counter at zero is shown.
    fn shows_zero(&self, indices: &[usize]) -> bool {
        (self.zeros)(indices)
            && self.axes.iter().zip(indices).all(|(axis, index)| axis.has_values_yet(*index))
    }

    /// The values of all labels at the indices.
    fn labels(&self, indices: &[usize]) -> Vec<(&'static str, Arc<str>)> {
        let values = self.axes.iter().zip(indices).flat_map(|(axis, index)| axis.values(*index));
        self.metric.labels.iter().copied().zip(values).collect()
    }
}

impl Collector for Grid {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut family = self.metric.begin_metric_without_unit(&mut encoder)?;
        for (cell, counter) in self.cells.iter().enumerate() {
            let count = counter.load(Ordering::Relaxed);
            let indices = self.indices(cell);
            if count > 0 || self.shows_zero(&indices) {
                let labels = self.labels(&indices);
                ConstCounter::new(count).encode(family.encode_family(&labels)?)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::metric_table::FINDINGS;
    use prometheus_client::registry::Registry;

    #[test]
    fn every_cell_has_its_labels() {
        let grid = Grid::new(
            FINDINGS,
            vec![Fixed::of(["FAB1", "FAB2"]), Fixed::of_two([("a", "x"), ("b", "y"), ("c", "z")])],
            NO_ZEROS_SHOWN,
        );
        grid.count([1, 2], 3);
        grid.count([0, 0], 1);
        grid.count([2, 0], 1);
        grid.count([0, 3], 1);
        let mut registry = Registry::with_prefix("p");
        registry.register_collector(Box::new(Arc::clone(&grid)));
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        let series: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        let expected = [
            r#"p_findings_total{rule="FAB1",severity="a",mode="x"} 1"#,
            r#"p_findings_total{rule="FAB2",severity="c",mode="z"} 3"#,
        ];
        assert_eq!(series, expected, "{text}");
    }
}
