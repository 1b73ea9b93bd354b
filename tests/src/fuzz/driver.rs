//! Makes up inputs for some time. An input that fails, takes too long or takes too much memory is
//! left in `target/fuzz`, also when the process ends with it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::{Random, Target};
use crate::guests::root;
use crate::soak::Held;

/// How long one input may take, on a machine that does other things as well.
const INPUT_MAX: Duration = Duration::from_secs(20);
/// How much may be resident: the engine, what inputs are made from, and one input.
const RESIDENT_KIB_MAX: u64 = 1 << 20;
/// Inputs that are kept to be changed further.
const KEPT_MAX: usize = 4_000;

/// Tries made-up inputs for so many seconds, and tells what was tried.
///
/// # Errors
/// With the file of the first input for which something does not hold.
pub async fn run(target: Target, seconds: u64) -> Result<Value> {
    let folder = root().join("target/fuzz").join(target.name());
    fs::create_dir_all(&folder)?;
    let watched = Watched::start(folder.join("current"))?;
    let since_epoch = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    let seed = since_epoch.as_secs();
    let mut random = Random::new(seed);
    let mut seeds = target.seeds()?;
    let (own, mut forms, mut inputs) = (seeds.len(), BTreeSet::new(), 0_u64);
    let (began, mut slowest) = (Instant::now(), Duration::ZERO);
    while began.elapsed().as_secs() < seconds {
        // Everything once as it is, then changed.
        let place = usize::try_from(inputs).unwrap_or(usize::MAX);
        let input = match seeds.get(place).filter(|_| place < own) {
            Some(seed) => seed.clone(),
            None => target.change(&seeds, &mut random),
        };
        inputs += 1;
        let started = watched.begin(&input)?;
        let answer = target.check(&input).await;
        let took = started.elapsed();
        slowest = slowest.max(took);
        let panicked = watched.panic();
        let failed = match (&answer, panicked) {
            (_, Some(panic)) => Some(panic),
            (Err(error), None) => Some(format!("{error:#}")),
            _ if took > INPUT_MAX => Some(format!("it took {} ms", took.as_millis())),
            _ => None,
        };
        if let Some(failed) = failed {
            let kept = folder.join(format!("failed-{seed}-{inputs}"));
            fs::write(&kept, &input)?;
            bail!("`{}`: {failed}", kept.display());
        }
        if forms.insert(form(&answer.unwrap_or_default())) && seeds.len() < KEPT_MAX {
            seeds.push(input);
        }
    }
    watched.stop();
    Ok(json!({
        "target": target.name(),
        "seed": seed,
        "inputs": inputs,
        "forms_of_answers": forms.len(),
        "slowest_ms": u64::try_from(slowest.as_millis()).unwrap_or(u64::MAX),
        "resident_kib_most": watched.most.load(Ordering::Relaxed),
    }))
}

/// The answer without what differs from input to input: numbers, and what is in quotes.
fn form(answer: &str) -> String {
    let mut form = String::new();
    for (place, part) in answer.split('`').enumerate() {
        if place % 2 == 0 {
            form.extend(part.chars().filter(|c| !c.is_ascii_digit()).take(200));
        }
    }
    form.truncate(
        form.char_indices()
            .nth(200)
            .map_or(form.len(), |(at, _)| at),
    );
    form
}

/// Looks after the input that is being tried.
struct Watched {
    current: PathBuf,
    began: Arc<Mutex<Option<Instant>>>,
    stopped: Arc<AtomicBool>,
    panics: Arc<Mutex<Option<String>>>,
    most: Arc<AtomicU64>,
}

impl Watched {
    fn start(current: PathBuf) -> Result<Self> {
        let watched = Self {
            current,
            began: Arc::default(),
            stopped: Arc::default(),
            panics: Arc::default(),
            most: Arc::default(),
        };
        let panics = Arc::clone(&watched.panics);
        // The host turns a panic of a decoder into an error; here it is a finding.
        std::panic::set_hook(Box::new(move |panic| {
            let mut panics = panics.lock().unwrap_or_else(PoisonError::into_inner);
            panics.get_or_insert(panic.to_string());
        }));
        let (began, stopped) = (Arc::clone(&watched.began), Arc::clone(&watched.stopped));
        let (most, current) = (Arc::clone(&watched.most), watched.current.clone());
        std::thread::Builder::new().spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(20));
                look(&began, &most, &current);
            }
        })?;
        Ok(watched)
    }

    /// Keeps the input where it is found when the process ends with it.
    fn begin(&self, input: &[u8]) -> Result<Instant> {
        fs::write(&self.current, input).context("the current input")?;
        let now = Instant::now();
        *self.began.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
        Ok(now)
    }

    fn panic(&self) -> Option<String> {
        let mut panics = self.panics.lock().unwrap_or_else(PoisonError::into_inner);
        panics.take()
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}

/// Ends the process when an input takes far too long or far too much.
fn look(began: &Mutex<Option<Instant>>, most: &AtomicU64, current: &Path) {
    let began = *began.lock().unwrap_or_else(PoisonError::into_inner);
    let took = began.map_or(Duration::ZERO, |began| began.elapsed());
    let resident = Held::now().map_or(0, |held| held.resident_kib);
    most.fetch_max(resident, Ordering::Relaxed);
    if took > 3 * INPUT_MAX || resident > RESIDENT_KIB_MAX {
        let (file, seconds) = (current.display(), took.as_secs());
        eprintln!("`{file}`: {seconds} s, and {resident} KiB resident");
        std::process::abort();
    }
}
