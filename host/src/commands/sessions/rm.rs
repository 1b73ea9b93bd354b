//! `openprogram sessions rm`: sessions are deleted, with all that only they hold.

use std::collections::{HashMap, HashSet};

use openprogram_core::id::SessionId;
use openprogram_core::session::{Session, SessionArchive, SessionSize, StoreError};
use serde_json::json;

use crate::app::App;
use crate::commands::console::Console;
use crate::commands::exit::Usage;
use crate::text::one_line;

const MS_PER_DAY: u64 = 86_400_000;

/// Deletes sessions, with everything that was recorded of them
///
/// Deleted are those that are named, those in which nothing happened for so many days, and the longest
/// untouched ones until the rest is small enough. What they alone held is gone from the disk
/// afterwards. A session that runs now stays, and so does one that a fork goes on from, as long as the
/// fork does.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The sessions, `op-` and 16 hexadecimal digits
    #[arg(value_name = "SESSION", required_unless_present_any = ["older_than", "keep_mib"])]
    sessions: Vec<String>,
    /// Those in which nothing happened for so many days
    #[arg(long, value_name = "DAYS")]
    older_than: Option<u32>,
    /// The longest untouched ones, until the rest is no larger than so many MiB
    #[arg(long, value_name = "MIB")]
    keep_mib: Option<u32>,
    /// Those that go on from a deleted one, too
    #[arg(long)]
    forks: bool,
    /// Only say what would be deleted
    #[arg(long)]
    dry_run: bool,
    /// Print {"removed": [SESSION], "kept": [{"session", "why"}], "freed_bytes"}
    #[arg(long)]
    pub(super) json: bool,
}

/// What is to be deleted, and what is not although it was asked for.
#[derive(Default)]
struct Plan {
    removed: Vec<Session>,
    kept: Vec<(SessionId, String)>,
}

pub(super) async fn run(args: &Args, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let named = args.sessions.iter().map(|text| SessionId::parse(text));
    let named: Vec<SessionId> = named.collect::<Result<_, _>>()?;
    let plan = match app.recorded_sessions()? {
        Some(store) => plan(args, &named, &*store, app).await?,
        None => match named.into_iter().next() {
            Some(id) => return Err(StoreError::NoSession(id).into()),
            None => Plan::default(),
        },
    };
    let mut freed = 0;
    if !args.dry_run && !plan.removed.is_empty() {
        let store = app.sessions_to_change()?;
        for session in &plan.removed {
            store.delete_session(&session.id).await?;
        }
        freed = store.compact().await?;
    }
    if args.json {
        let removed: Vec<_> = plan
            .removed
            .iter()
            .map(|session| session.id.as_str())
            .collect();
        let kept = plan.kept.iter();
        let kept = kept.map(|(id, why)| json!({"session": id.as_str(), "why": why}));
        let kept: Vec<_> = kept.collect();
        console.json(&json!({"removed": removed, "kept": kept, "freed_bytes": freed}))?;
        return Ok(());
    }
    for session in &plan.removed {
        console.text(&format!(
            "{}  {}\n",
            session.id,
            one_line(&session.title, 80)
        ))?;
    }
    for (id, why) in &plan.kept {
        console.say(&format!("{id} stays: {why}"));
    }
    let count = plan.removed.len();
    let word = if count == 1 { "session" } else { "sessions" };
    console.say(&match args.dry_run {
        true => format!("{count} {word} would be deleted"),
        false => format!(
            "deleted {count} {word}, {} KiB are free again",
            freed / 1024
        ),
    });
    Ok(())
}

async fn plan(
    args: &Args,
    named: &[SessionId],
    store: &dyn SessionArchive,
    app: &App,
) -> anyhow::Result<Plan> {
    let all = store.sessions(u64::MAX).await?;
    if let Some(missing) = named.iter().find(|id| all.iter().all(|s| s.id != **id)) {
        return Err(StoreError::NoSession(missing.clone()).into());
    }
    let mut wanted: HashSet<&SessionId> = named.iter().collect();
    // Measuring reads everything, and is of no use where sessions are named.
    let sizes = match (args.older_than, args.keep_mib) {
        (None, None) => Vec::new(),
        _ => store.sizes().await?,
    };
    if let Some(days) = args.older_than {
        let now = u64::try_from(app.now().0).unwrap_or_default();
        let before = now.saturating_sub(u64::from(days) * MS_PER_DAY);
        let is_old =
            |size: &&SessionSize| u64::try_from(size.touched_at.0).is_ok_and(|at| at < before);
        wanted.extend(sizes.iter().filter(is_old).map(|size| &size.session));
    }
    if let Some(mib) = args.keep_mib {
        let rest = sizes.iter().filter(|size| !wanted.contains(&size.session));
        let rest: Vec<&SessionSize> = rest.collect();
        let mut left: u64 = rest.iter().map(|size| size.bytes).sum();
        for size in rest {
            if left <= u64::from(mib) << 20 {
                break;
            }
            left = left.saturating_sub(size.bytes);
            wanted.insert(&size.session);
        }
    }
    if args.forks {
        // What a fork goes on from is older than the fork.
        for session in all.iter().rev() {
            let base = session.base.as_ref();
            if base.is_some_and(|base| wanted.contains(&base.session)) {
                wanted.insert(&session.id);
            }
        }
    }

    let mut plan = Plan::default();
    // Sessions that stay, each with the one that it goes on from; forks come first.
    let mut needed: HashMap<&SessionId, &SessionId> = HashMap::new();
    for session in &all {
        let why = if !wanted.contains(&session.id) {
            None
        } else if app.running_since(&session.id).is_some() {
            Some("it runs now".to_owned())
        } else if let Some(fork) = needed.get(&session.id) {
            Some(format!(
                "{fork} goes on from it; `--forks` deletes that too"
            ))
        } else {
            plan.removed.push(session.clone());
            continue;
        };
        if let Some(base) = &session.base {
            needed.entry(&base.session).or_insert(&session.id);
        }
        match why {
            Some(why) if named.contains(&session.id) => {
                return Err(Usage(format!("{} cannot be deleted: {why}", session.id)).into());
            }
            Some(why) => plan.kept.push((session.id.clone(), why)),
            None => {}
        }
    }
    Ok(plan)
}
