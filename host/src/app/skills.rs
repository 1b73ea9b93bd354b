//! The skills that models are told of: those of components, and those in folders.

use std::io::Write;
use std::sync::Arc;

use openprogram_component::LoadedComponent;
use openprogram_core::skill::SkillSource;

use super::App;
use crate::skills::FolderSkills;

/// Most words on skills at the start of a run; more are counted.
const NOTICES_MAX: usize = 10;

impl App {
    /// Where skills come from, looked at once so that a person is told what is wrong with them;
    /// `None` when they are off.
    pub(super) fn skills(
        &self,
        components: &[LoadedComponent],
        words: &mut dyn Write,
    ) -> Option<Arc<dyn SkillSource>> {
        let settings = &self.settings.skills;
        if !settings.is_on() {
            return None;
        }
        let of_components = components.iter().filter_map(LoadedComponent::skill);
        let fixed = of_components.filter(|_| settings.of_components).cloned();
        let source = FolderSkills::new(settings.folders.clone(), fixed.collect());
        let skills = source.skills();
        // Words that cannot be written are no reason to fail: nobody is there to read them.
        for notice in skills.notices().iter().take(NOTICES_MAX) {
            let _ = writeln!(words, "note: {notice}");
        }
        let n_more = skills.notices().len().saturating_sub(NOTICES_MAX);
        if n_more > 0 {
            let _ = writeln!(words, "note: and {n_more} more about skills");
        }
        Some(Arc::new(source))
    }
}
