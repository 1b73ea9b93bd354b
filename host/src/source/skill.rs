//! Packs the `SKILL.md` beside the source of a component into the component.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use openprogram_component::with_skill;
use openprogram_core::skill::{SKILL_FILE, SKILL_FILE_BYTES_MAX, Skill};

use super::{BuildError, Built};
use crate::input::open_found;

/// Gives a component that was built the skill of its folder, or takes one out that is gone there.
/// A component that has it already stays as it is.
///
/// # Errors
/// When the file is no skill, or the component cannot be written.
pub(super) fn pack(built: &Built) -> Result<(), BuildError> {
    let path = built.folder.join(SKILL_FILE);
    let text = read(&path, &built.package)?;
    pack_text(&built.path, text.as_deref()).map_err(|source| BuildError::Pack { path, source })
}

/// The text of the skill; `None` when there is no such file.
fn read(path: &Path, package: &str) -> Result<Option<String>, BuildError> {
    let refused = |message: String| BuildError::Skill {
        path: path.to_owned(),
        message,
    };
    match path.symlink_metadata() {
        Ok(found) if found.is_file() => {}
        Ok(_) => {
            return Err(refused(
                "it is no file of its own; put the text there".to_owned(),
            ));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(refused(error.to_string())),
    }
    let mut bytes = Vec::new();
    let most = SKILL_FILE_BYTES_MAX as u64 + 1;
    open_found(path)
        .and_then(|file| file.take(most).read_to_end(&mut bytes))
        .map_err(|error| refused(error.to_string()))?;
    let text = String::from_utf8(bytes);
    let text = text.map_err(|_| refused("it is not UTF-8 text".to_owned()))?;
    // Its name is the one that the component is installed by.
    Skill::parse(package, &text).map_err(|error| refused(error.to_string()))?;
    Ok(Some(text))
}

/// Written beside it first: what cargo made is linked to a file that cargo keeps.
fn pack_text(component: &Path, text: Option<&str>) -> io::Result<()> {
    let bytes = fs::read(component)?;
    let packed = with_skill(&bytes, text);
    if packed == bytes {
        return Ok(());
    }
    let beside = component.with_extension("packed");
    fs::write(&beside, packed)?;
    fs::rename(&beside, component)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn the_skill_beside_a_source_goes_into_its_component_and_out_again() {
        let folder = tempfile::tempdir().unwrap();
        let component = folder.path().join("tool.wasm");
        let built = Built {
            package: "tool".to_owned(),
            folder: folder.path().to_owned(),
            path: component.clone(),
        };
        let plain = b"\0asm\x0d\0\x01\0".to_vec();
        let kept_by_cargo = folder.path().join("kept.wasm");
        fs::write(&kept_by_cargo, &plain).unwrap();
        fs::hard_link(&kept_by_cargo, &component).unwrap();
        pack(&built).unwrap();
        assert_eq!(fs::read(&component).unwrap(), plain);

        let skill = folder.path().join(SKILL_FILE);
        let text = "---\ndescription: D\n---\nDo it.\n";
        fs::write(&skill, text).unwrap();
        pack(&built).unwrap();
        assert_eq!(
            fs::read(&component).unwrap(),
            with_skill(&plain, Some(text))
        );
        assert_eq!(fs::read(&kept_by_cargo).unwrap(), plain);

        let told = |text: &[u8]| {
            fs::write(&skill, text).unwrap();
            let told = pack(&built).unwrap_err().to_string();
            told.replace(&folder.path().display().to_string(), "FOLDER")
        };
        expect_test::expect!["`FOLDER/SKILL.md` is no skill: it has no description; write `description: …` into its front matter"]
            .assert_eq(&told(b"---\n---\n"));
        expect_test::expect!["`FOLDER/SKILL.md` is no skill: it is not UTF-8 text"]
            .assert_eq(&told(b"\xff"));
        fs::remove_file(&skill).unwrap();
        std::os::unix::fs::symlink(PathBuf::from("/etc/hostname"), &skill).unwrap();
        let told = pack(&built).unwrap_err().to_string();
        assert!(told.ends_with("put the text there"), "{told}");
        fs::remove_file(&skill).unwrap();
        pack(&built).unwrap();
        assert_eq!(fs::read(&component).unwrap(), plain);
    }
}
