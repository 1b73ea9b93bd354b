//! Files that a program lets its own content name: those of one folder and of nothing beside it.

use std::io;
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use openprogram_core::content::MediaFiles;

use super::protected::Known;
use super::walk::{Astray, Kind, Last, walk};
use super::whole::{Whole, read_at_most};

/// Lets content name the files of one folder, by paths that begin in it.
///
/// A path is followed link by link and does not lead out. The files of this program, such as a
/// project file or a state folder, are never read, and neither is what is no file.
///
/// ```
/// use openprogram_component::AllowedFolder;
/// use openprogram_core::content::{MediaLimits, read_content};
/// use serde_json::json;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = AllowedFolder::open(".".as_ref())?;
/// let content = json!([{"type": "image", "path": "../secret.png"}]);
/// let refused = read_content(&content, &folder, &MediaLimits::default());
/// assert!(refused.unwrap_err().to_string().contains("leads out of the folder"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct AllowedFolder {
    dir: Dir,
}

impl AllowedFolder {
    /// Allows this folder.
    ///
    /// # Errors
    /// When there is no such folder, or it cannot be opened.
    pub fn open(folder: &Path) -> io::Result<Self> {
        Ok(Self {
            dir: Dir::open_ambient_dir(folder, ambient_authority())?,
        })
    }

    fn read_in(&self, path: &str, bytes_max: u64) -> Result<Vec<u8>, String> {
        // The files of this program are known by their names here, and by no place.
        let walked = walk(&self.dir, path, Last::Follow, &Known::default());
        let walked = walked.map_err(|astray| match astray {
            Astray::Outside => "leads out of the folder that may be read".to_owned(),
            Astray::Protected => "belongs to this program itself, which is never read".to_owned(),
            Astray::NotFound | Astray::NotAFolder => "is not there".to_owned(),
            Astray::System(error) => format!("cannot be read: {error}"),
            Astray::BadName | Astray::TooLong | Astray::TooManyLinks | Astray::NotText => {
                "is a path that cannot be followed".to_owned()
            }
        })?;
        match walked.kind {
            Some(Kind::File) => {}
            None => return Err("is not there".to_owned()),
            Some(_) => return Err("is no file".to_owned()),
        }
        let folder = walked.parent.as_ref().unwrap_or(&self.dir);
        let opened = folder.open(&walked.name);
        let read = opened.and_then(|file| read_at_most(&file.into_std(), bytes_max));
        match read {
            Ok(Whole::Bytes(bytes)) => Ok(bytes),
            Ok(_) => Err(format!(
                "holds more than the {bytes_max} bytes that are left"
            )),
            Err(error) => Err(format!("cannot be read: {error}")),
        }
    }
}

impl MediaFiles for AllowedFolder {
    fn read(&self, path: &str, bytes_max: u64) -> Result<Vec<u8>, String> {
        let shown = path.chars().filter(|c| !c.is_control()).take(200);
        let shown: String = shown.collect();
        self.read_in(path, bytes_max)
            .map_err(|message| format!("`{shown}` {message}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_folder_are_read_and_nothing_beside_it() {
        let place = tempfile::tempdir().unwrap();
        let inside = place.path().join("in");
        for (path, text) in [
            ("in/deep/a.png", "picture"),
            ("in/openprogram.toml", "grants"),
            ("beside", "secret"),
        ] {
            let path = place.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink("../beside", inside.join("way")).unwrap();
        let folder = AllowedFolder::open(&inside).unwrap();
        for (path, expected) in [
            ("deep/a.png", Ok("picture")),
            ("./deep/../deep//a.png", Ok("picture")),
            ("none.png", Err("`none.png` is not there")),
            ("deep", Err("`deep` is no file")),
            ("", Err("`` is not there")),
            (
                "../beside",
                Err("`../beside` leads out of the folder that may be read"),
            ),
            (
                "/etc/passwd",
                Err("`/etc/passwd` leads out of the folder that may be read"),
            ),
            #[cfg(unix)]
            ("way", Err("`way` leads out of the folder that may be read")),
            (
                "openprogram.toml",
                Err("`openprogram.toml` belongs to this program itself, which is never read"),
            ),
        ] {
            let read = folder
                .read(path, 100)
                .map(|b| String::from_utf8(b).unwrap());
            let read = read.as_deref().map_err(String::as_str);
            assert_eq!(read, expected);
        }
        let error = folder.read("deep/a.png", 3).unwrap_err();
        assert_eq!(
            error,
            "`deep/a.png` holds more than the 3 bytes that are left"
        );
        assert!(AllowedFolder::open(&inside.join("deep/a.png")).is_err());
    }
}
