//! Reaches for files and variables as it is told, by the library and past it.

/// Files and variables.
#[openprogram_guest::functions(package = "test:file-reach")]
pub mod reach {
    use std::fs;
    use std::io::Write as _;

    use wasip2::clocks::monotonic_clock;
    use wasip2::filesystem::preopens::get_directories;
    use wasip2::filesystem::types::{
        Descriptor, DescriptorFlags, ErrorCode, NewTimestamp, OpenFlags, PathFlags,
    };

    /// Gives a variable.
    pub fn variable(name: String) -> Option<String> {
        std::env::var(name).ok()
    }

    /// Gives the names of all variables.
    pub fn variables() -> Vec<String> {
        std::env::vars().map(|(name, _)| name).collect()
    }

    /// Gives the names of the folders.
    pub fn folders() -> Vec<String> {
        get_directories()
            .into_iter()
            .map(|(_, name)| name)
            .collect()
    }

    /// Gives the text of a file.
    pub fn read(path: String) -> Result<String, String> {
        fs::read_to_string(path).map_err(|error| error.to_string())
    }

    /// Writes a text to a file.
    pub fn write(path: String, text: String) -> Result<(), String> {
        fs::write(path, text).map_err(|error| error.to_string())
    }

    /// Adds to the end of a file, so many bytes so many times.
    pub fn append(path: String, bytes: u32, times: u32) -> Result<(), String> {
        let told = |error: std::io::Error| error.to_string();
        let file = fs::OpenOptions::new().create(true).append(true).open(path);
        let mut file = file.map_err(told)?;
        for _ in 0..times {
            file.write_all(&vec![b'x'; bytes as usize]).map_err(told)?;
        }
        Ok(())
    }

    /// Gives the names of what is in a folder, sorted.
    pub fn list(path: String) -> Result<Vec<String>, String> {
        let told = |error: std::io::Error| error.to_string();
        let entries = fs::read_dir(path).map_err(told)?;
        let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        let mut names = names.collect::<Result<Vec<_>, _>>().map_err(told)?;
        names.sort();
        Ok(names)
    }

    /// Makes so many files in a folder.
    pub fn make(path: String, count: u32) -> Result<(), String> {
        for number in 0..count {
            fs::write(format!("{path}/{number}"), "").map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Does one thing to a path, past the library, and gives how it ended.
    pub fn act(what: String, folder: String, path: String) -> String {
        let ended = held(&folder).and_then(|folder| done(&what, &folder, &path));
        ended.map_or_else(|code| code.name().to_owned(), |()| "done".to_owned())
    }

    /// Does one thing to two paths, past the library, and gives how it ended.
    pub fn act_on_two(
        what: String,
        folder: String,
        path: String,
        other_folder: String,
        other_path: String,
    ) -> String {
        let both = held(&folder).and_then(|folder| Ok((folder, held(&other_folder)?)));
        let ended = both.and_then(|(folder, other)| match what.as_str() {
            "rename" => folder.rename_at(&path, &other, &other_path),
            "link" => folder.link_at(PathFlags::empty(), &path, &other, &other_path),
            "symlink" => other.symlink_at(&path, &other_path),
            _ => Err(ErrorCode::Unsupported),
        });
        ended.map_or_else(|code| code.name().to_owned(), |()| "done".to_owned())
    }

    /// Gives a file this size.
    pub fn resize(folder: String, path: String, size: u64) -> String {
        let opened = held(&folder).and_then(|folder| {
            let make = OpenFlags::CREATE;
            folder.open_at(PathFlags::empty(), &path, make, DescriptorFlags::WRITE)
        });
        let ended = opened.and_then(|file| file.set_size(size));
        ended.map_or_else(|code| code.name().to_owned(), |()| "done".to_owned())
    }

    /// Writes one byte at this place of a file.
    pub fn poke(folder: String, path: String, at: u64) -> String {
        let opened = held(&folder).and_then(|folder| {
            let make = OpenFlags::CREATE;
            folder.open_at(PathFlags::empty(), &path, make, DescriptorFlags::WRITE)
        });
        let ended = opened.and_then(|file| file.write(b"x", at));
        ended.map_or_else(|code| code.name().to_owned(), |_| "done".to_owned())
    }

    /// Holds so many listings of a folder at once.
    pub fn hold_listings(folder: String, count: u32) -> String {
        let listings = held(&folder).and_then(|folder| {
            let list = || folder.read_directory();
            (0..count).map(|_| list()).collect::<Result<Vec<_>, _>>()
        });
        listings.map_or_else(
            |code| code.name().to_owned(),
            |listings| format!("{} held", listings.len()),
        )
    }

    /// Opens a file so many times.
    pub fn hold_files(folder: String, path: String, count: u32) -> String {
        let files = held(&folder).and_then(|folder| {
            let open = || {
                let (none, read) = (OpenFlags::empty(), DescriptorFlags::READ);
                folder.open_at(PathFlags::empty(), &path, none, read)
            };
            (0..count).map(|_| open()).collect::<Result<Vec<_>, _>>()
        });
        files.map_or_else(
            |code| code.name().to_owned(),
            |files| format!("{} held", files.len()),
        )
    }

    /// Looks at a path so often.
    pub fn look_often(folder: String, path: String, times: u32) -> u32 {
        let Ok(folder) = held(&folder) else { return 0 };
        let look = || folder.stat_at(PathFlags::SYMLINK_FOLLOW, &path).is_ok();
        (0..times).filter(|_| look()).count() as u32
    }

    /// Lets two paths change places so often; gives how often that was done.
    pub fn swap_often(folder: String, path: String, other: String, times: u32) -> u32 {
        let Ok(folder) = held(&folder) else { return 0 };
        let aside = format!("{other}-aside");
        let swap = || {
            folder.rename_at(&path, &folder, &aside)?;
            folder.rename_at(&other, &folder, &path)?;
            folder.rename_at(&aside, &folder, &other)
        };
        (0..times).filter(|_| swap().is_ok()).count() as u32
    }

    /// Reads a file so often, past the library; gives every different text that it found.
    pub fn read_often(folder: String, path: String, times: u32) -> Vec<String> {
        let Ok(folder) = held(&folder) else {
            return Vec::new();
        };
        let read = || {
            let (follow, none) = (PathFlags::SYMLINK_FOLLOW, OpenFlags::empty());
            let file = folder.open_at(follow, &path, none, DescriptorFlags::READ);
            let (bytes, _) = file.ok()?.read(1_000, 0).ok()?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        let mut found: Vec<String> = (0..times).filter_map(|_| read()).collect();
        found.sort();
        found.dedup();
        found
    }

    /// Writes a text into a file so often, past the library, and makes it where it is not there.
    pub fn write_often(folder: String, path: String, text: String, times: u32) -> u32 {
        let Ok(folder) = held(&folder) else { return 0 };
        let write = || {
            let (follow, make) = (PathFlags::SYMLINK_FOLLOW, OpenFlags::CREATE);
            let file = folder.open_at(follow, &path, make, DescriptorFlags::WRITE);
            file.is_ok_and(|file| file.write(text.as_bytes(), 0).is_ok())
        };
        (0..times).filter(|_| write()).count() as u32
    }

    /// Asks for the time so many times.
    pub fn ask_time(times: u32) -> u32 {
        for _ in 0..times {
            monotonic_clock::now();
        }
        times
    }

    fn held(name: &str) -> Result<Descriptor, ErrorCode> {
        let mut folders = get_directories().into_iter();
        let found = folders.find(|(_, known)| known == name);
        found
            .map(|(folder, _)| folder)
            .ok_or(ErrorCode::BadDescriptor)
    }

    fn done(what: &str, folder: &Descriptor, path: &str) -> Result<(), ErrorCode> {
        let (follow, keep) = (PathFlags::SYMLINK_FOLLOW, PathFlags::empty());
        let none = OpenFlags::empty();
        let (read, write) = (DescriptorFlags::READ, DescriptorFlags::WRITE);
        let open =
            |flags, open_flags, mode| folder.open_at(flags, path, open_flags, mode).map(drop);
        match what {
            "open" => open(follow, none, read),
            "open-itself" => open(keep, none, read),
            "open-folder" => open(follow, OpenFlags::DIRECTORY, read),
            "open-to-write" => open(follow, none, write),
            "truncate" => open(follow, OpenFlags::TRUNCATE, read),
            "create" => open(follow, OpenFlags::CREATE, read),
            "create-new" => open(follow, OpenFlags::CREATE | OpenFlags::EXCLUSIVE, write),
            "stat" => folder.stat_at(follow, path).map(drop),
            "stat-itself" => folder.stat_at(keep, path).map(drop),
            "hash" => folder.metadata_hash_at(follow, path).map(drop),
            "create-inside" => {
                let mode = read | DescriptorFlags::MUTATE_DIRECTORY;
                let inside = folder.open_at(follow, path, OpenFlags::DIRECTORY, mode)?;
                inside
                    .open_at(keep, "new", OpenFlags::CREATE, write)
                    .map(drop)
            }
            "make-folder" => folder.create_directory_at(path),
            "remove-folder" => folder.remove_directory_at(path),
            "remove" => folder.unlink_file_at(path),
            "read-link" => folder.readlink_at(path).map(drop),
            "set-times" => folder.set_times_at(follow, path, NewTimestamp::Now, NewTimestamp::Now),
            "resize-unwritable" => folder.open_at(follow, path, none, read)?.set_size(0),
            "write-unwritable" => folder
                .open_at(follow, path, none, read)?
                .write(b"x", 0)
                .map(drop),
            "set-times-unwritable" => {
                let file = folder.open_at(follow, path, none, read)?;
                file.set_times(NewTimestamp::Now, NewTimestamp::Now)
            }
            _ => Err(ErrorCode::Unsupported),
        }
    }
}
