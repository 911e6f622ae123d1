// SPDX-License-Identifier: MIT

// Gives a compiler some work.
use std::collections::{BTreeMap, HashMap};

macro_rules! many {
    ($($name:ident)*) => {$(
        pub fn $name(words: &[String]) -> BTreeMap<usize, Vec<(&str, f64)>> {
            let mut counts: HashMap<&str, usize> = HashMap::new();
            for word in words.iter().flat_map(|one| one.split_whitespace()) {
                *counts.entry(word).or_default() += word.len();
            }
            let mut sorted: BTreeMap<usize, Vec<(&str, f64)>> = BTreeMap::new();
            for (word, count) in counts {
                sorted.entry(count).or_default().push((word, (count as f64).sqrt()));
            }
            sorted.values_mut().for_each(|list| list.sort_by(|a, b| b.1.total_cmp(&a.1)));
            sorted
        }
    )*};
}
many! { a b c d e f g h i j k l }
