//! The corpus of `measure fuzz`, replayed: each input as it is, and changed a little, the same way
//! every time.

use openprogram_tests::fuzz::{Random, Target};

/// How many changed forms of each input are tried.
const CHANGES: u64 = 20;

#[tokio::test]
async fn inputs_of_the_corpus_keep_every_promise() {
    for target in Target::ALL {
        let corpus = target.corpus().unwrap();
        assert!(!corpus.is_empty(), "the corpus of {target:?} is empty");
        for (place, (name, input)) in corpus.iter().enumerate() {
            let checked = target.check(input).await;
            checked.unwrap_or_else(|error| panic!("{target:?} `{name}`: {error:#}"));
            for change in 0..CHANGES {
                let mut random = Random::new(change + CHANGES * place as u64);
                let changed = target.change(std::slice::from_ref(input), &mut random);
                let checked = target.check(&changed).await;
                checked.unwrap_or_else(|error| panic!("{target:?} `{name}` {change}: {error:#}"));
            }
        }
    }
}
