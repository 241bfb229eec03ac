//! What a tenant writes can't hurt anyone: each row of the list of attacks, through the API server, with the rights of
//! an ordinary user, beside a neighbour whose requests are answered as ever.
//!
//! What is attacked is refused, or it is stored as it was judged, and can be read in both versions, repaired and
//! deleted.

mod embedded;
mod inherited;
mod kept;
mod large;
mod marked;
mod released;
mod resting;
mod slow;
pub mod tenant;

use cluster_tests::Test;

pub fn tests() -> Vec<Test> {
    let tests = [
        embedded::tests(),
        kept::tests(),
        inherited::tests(),
        large::tests(),
        marked::tests(),
        released::tests(),
        resting::tests(),
        slow::tests(),
    ];
    tests.into_iter().flatten().collect()
}
