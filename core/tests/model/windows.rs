//! Windows as sets of milliseconds, relative to now, so that the past can be forgotten.

/// One bit for each ms. The lowest is `past` ms ago.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ms(pub u64);

impl Ms {
    /// From `lo` to `hi`, both included. `beginning`: the ms of the lowest bit.
    pub fn window(beginning: i64, lo: i64, hi: i64) -> Self {
        let (first, last) = ((lo - beginning).clamp(0, 63), (hi - beginning).min(63));
        Self((first..=last).map(|place| 1 << place).sum())
    }

    /// The same milliseconds one ms later.
    pub fn later(self) -> Self {
        Self(self.0 >> 1)
    }

    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl std::hash::Hash for Ms {
    /// Not as a `u64`, which the view takes for numbers of records.
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_u32(self.0 as u32);
        state.write_u32((self.0 >> 32) as u32);
    }
}
