//! Numbers that look random and come from a seed.

/// `SplitMix64`.
pub struct Random(u64);

impl Random {
    /// Of `PROPTEST_RNG_SEED` if it is set, as for the properties, else of the present time.
    pub fn from_environment() -> (Self, u64) {
        let given = std::env::var("PROPTEST_RNG_SEED").ok().and_then(|seed| seed.parse().ok());
        let now = || std::time::UNIX_EPOCH.elapsed().unwrap().as_millis().try_into().unwrap();
        let seed = given.unwrap_or_else(now);
        (Self(seed), seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is not zero.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap()
    }

    /// Once in so many times.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// So many bytes: mostly some kB, seldom some MB.
    pub fn size(&mut self) -> usize {
        let most = match self.below(40) {
            0 => 3_000_000,
            1..=8 => 600_000,
            _ => 60_000,
        };
        most / 50 + self.below(most)
    }
}
