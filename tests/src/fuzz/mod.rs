//! Made-up inputs for the loader of components and for the conversion of values.
//!
//! `measure fuzz TARGET SECONDS` makes them up for some time; an ordinary test replays the corpus in
//! `tests/fuzz/corpus`. Coverage would take another build of the engine, so what is new is told by
//! the answer: an input whose answer has a form not seen before is changed further.

mod driver;
mod mutate;
mod random;
mod values;

use std::path::PathBuf;
use std::sync::LazyLock;

use anyhow::{Result, ensure};
use openprogram_component::{Engine, EngineOptions, LoadError, LoadedComponent, MetadataMode};

pub use driver::run;
pub use random::Random;

/// The longest answer to an input.
const ANSWER_BYTES_MAX: usize = 64 << 10;
/// Larger components are read and not compiled, to try more of them.
const COMPILED_BYTES_MAX: usize = 8 << 10;

/// What inputs are made up for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Bytes that are loaded as a component.
    Loader,
    /// A type and a value, which crosses to the component model and back.
    Values,
}

impl Target {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Loader, Self::Values];

    /// The name on the command line and of the folder of the corpus.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Loader => "loader",
            Self::Values => "values",
        }
    }

    /// The inputs that are kept.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn corpus(self) -> Result<Vec<(String, Vec<u8>)>> {
        let folder = corpus_folder().join(self.name());
        let mut inputs = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            inputs.push((name.into_owned(), std::fs::read(&path)?));
        }
        inputs.sort();
        Ok(inputs)
    }

    /// What inputs are made from.
    pub(crate) fn seeds(self) -> Result<Vec<Vec<u8>>> {
        let mut seeds: Vec<Vec<u8>> = self.corpus()?.into_iter().map(|(_, input)| input).collect();
        if self == Self::Loader {
            seeds.extend(mutate::components());
        }
        Ok(seeds)
    }

    /// Another input, made from these.
    #[must_use]
    pub fn change(self, seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
        match self {
            Self::Loader => mutate::component(seeds, random),
            Self::Values => mutate::bytes(random.pick(seeds).map_or(&[], Vec::as_slice), random),
        }
    }

    /// Tries an input and tells what was answered.
    ///
    /// # Errors
    /// When something does not hold that must hold for every input. A panic is a failure too.
    pub async fn check(self, input: &[u8]) -> Result<String> {
        let answer = match self {
            Self::Loader => check_component(input).await?,
            Self::Values => values::check(input)?,
        };
        let length = answer.len();
        ensure!(length <= ANSWER_BYTES_MAX, "an answer of {length} bytes");
        Ok(answer)
    }
}

fn corpus_folder() -> PathBuf {
    crate::guests::root().join("tests/fuzz/corpus")
}

/// Loads it; a small one is compiled and asked for its metadata as well.
async fn check_component(bytes: &[u8]) -> Result<String> {
    static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
        Engine::new(EngineOptions {
            slots: 4,
            memory_bytes_max: 16 << 20,
            ..EngineOptions::default()
        })
    });
    let mut modes = vec![MetadataMode::Skip];
    if bytes.len() <= COMPILED_BYTES_MAX {
        modes.push(MetadataMode::Run);
    }
    let mut answer = String::new();
    for mode in modes {
        match LoadedComponent::load(&ENGINE, "made-up", bytes.to_vec(), mode).await {
            Ok(loaded) => {
                answer = format!("{} functions", loaded.functions().len().min(3));
                if mode == MetadataMode::Run
                    && let Err(error) = loaded.compile(&ENGINE).await
                {
                    answer = told(&error)?;
                }
            }
            Err(error) => {
                answer = told(&error)?;
                break;
            }
        }
    }
    Ok(answer)
}

fn told(error: &LoadError) -> Result<String> {
    let told = error.to_string();
    ensure!(!told.is_empty(), "an error without words: {error:?}");
    // What the host makes of a panic while it reads.
    ensure!(!told.ends_with("it cannot be decoded"), "a panic");
    Ok(told)
}
