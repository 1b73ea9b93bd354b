//! Builds a Python project: pip installs what it pins into an environment of the project, and
//! componentize-py makes the component, with CPython inside.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use openprogram_component::Wit;

use super::manifest::Python;
use super::tools::{Tool, command, run, run_renamed};
use super::words::make;
use super::{BINDINGS_FOLDER, BuildError, Built, check_sdk};
use crate::sdk::SDK_FOLDER;

const PYTHON: Tool = Tool {
    name: "python3",
    install: "install Python 3.10 or newer with its `venv` from https://www.python.org, or with \
              the tool that installs programs here, for example `apt install python3-venv`",
    // The oldest one that the toolchain is made for.
    least: Some((3, 10)),
};
const COMPONENTIZE: Tool = Tool {
    name: "componentize-py",
    install: "remove the folder `.venv` of the project, and build again to have it installed there",
    least: None,
};
/// What a build needs to be there.
pub(super) static TOOLS: [Tool; 1] = [PYTHON];
/// The environment of a project.
const ENVIRONMENT: &str = ".venv";
/// What a build has installed into it, one requirement a line.
const INSTALLED: &str = "openprogram-installed.txt";
/// Compiles files without writing anything, so that a mistake is told with its place.
const CHECK: &str = "import sys\n\
     for path in sys.argv[1:]: compile(open(path, 'rb').read(), path, 'exec', dont_inherit=True)";
/// Most files that are checked before the build.
const CHECKED_FILES_MAX: usize = 200;

/// Builds the component of a folder, given from the root. What is done besides is told to `words`.
pub(super) fn build(folder: &Path, words: &mut dyn Write) -> Result<Built, BuildError> {
    let manifest = Python::read(folder)?;
    let project = &manifest.project;
    check_sdk(folder, words)?;
    let wit = Wit::read(&project.wit, project.world.as_deref())?;
    PYTHON.check(folder)?;
    check_sources(folder)?;
    let tool = toolchain(&manifest, words)?;
    write_bindings(&tool, &manifest, &wit)?;

    make(project, &wit, |made| {
        let mut python = componentize(&tool, &manifest, &wit);
        python.args(["componentize", &manifest.module]);
        let paths = python_paths(folder);
        for path in &paths {
            python.arg("-p").arg(path);
        }
        python.arg("--output").arg(made);
        let shown = format!("componentize-py componentize {}", manifest.module);
        // The tool sees its paths as `/0`, `/1` and so on.
        let renamed: Vec<_> = paths
            .iter()
            .enumerate()
            .map(|(at, path)| (format!("File \"/{at}/"), format!("File \"{path}/")))
            .collect();
        let renamed: Vec<_> = renamed.iter().map(|(a, b)| (&**a, &**b)).collect();
        run_renamed(&mut python, COMPONENTIZE, &shown, &renamed)
    })
}

/// Where the modules of the project are, below its folder.
fn source_folder(folder: &Path) -> &'static str {
    if folder.join("src").is_dir() {
        "src"
    } else {
        "."
    }
}

/// Where modules are looked for, below the folder: the source, then the SDK.
fn python_paths(folder: &Path) -> Vec<&'static str> {
    let sdk = folder.join(SDK_FOLDER).is_dir().then_some(SDK_FOLDER);
    [source_folder(folder)].into_iter().chain(sdk).collect()
}

/// Refuses a source that is no Python, with the place of the mistake.
fn check_sources(folder: &Path) -> Result<(), BuildError> {
    let source = source_folder(folder);
    let path = folder.join(source);
    let entries = fs::read_dir(&path).map_err(BuildError::io(&path))?;
    let mut files: Vec<_> = entries
        .flatten()
        .map(|entry| Path::new(source).join(entry.file_name()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "py"))
        .collect();
    files.sort();
    files.truncate(CHECKED_FILES_MAX);
    let mut python = command(PYTHON.name, folder);
    python.args(["-I", "-c", CHECK]).args(files);
    run(&mut python, PYTHON, "python3 -m py_compile")
}

/// The programs of the environment of a project.
fn programs(folder: &Path) -> PathBuf {
    let name = if cfg!(windows) { "Scripts" } else { "bin" };
    folder.join(ENVIRONMENT).join(name)
}

/// The toolchain in its pinned version: that of the environment of the project, or the one on the
/// path, else it is installed into the environment.
fn toolchain(manifest: &Python, words: &mut dyn Write) -> Result<PathBuf, BuildError> {
    let folder = &manifest.project.folder;
    let own = programs(folder).join(COMPONENTIZE.name);
    let wanted = manifest.requirements.join("\n");
    let stamp = folder.join(ENVIRONMENT).join(INSTALLED);
    let is_right = |tool: &Path| version_of(tool, folder).as_ref() == Some(&manifest.toolchain);
    let is_alone = manifest.requirements.len() == 1;
    let as_wanted = fs::read_to_string(&stamp).is_ok_and(|text| text == wanted);
    if (as_wanted || is_alone) && is_right(&own) {
        return Ok(own);
    }
    let on_path = Path::new(COMPONENTIZE.name);
    if is_alone && !folder.join(ENVIRONMENT).exists() && is_right(on_path) {
        return Ok(on_path.to_owned());
    }
    let shown = manifest.requirements.join(" ");
    // Words that cannot be written are no reason to fail: nobody is there to read them.
    let _ = writeln!(
        words,
        "installing the toolchain into `{}` with `pip install {shown}`",
        folder.join(ENVIRONMENT).display()
    );
    if !folder.join(ENVIRONMENT).exists() {
        let mut venv = command(PYTHON.name, folder);
        // Alone, so that no module of the project is taken for one of Python.
        venv.args(["-I", "-m", "venv", ENVIRONMENT]);
        run(&mut venv, PYTHON, &format!("python3 -m venv {ENVIRONMENT}"))?;
    }
    let mut pip = command(programs(folder).join("python"), folder);
    pip.args(["-I", "-m", "pip", "install", "--quiet"]);
    pip.args(["--disable-pip-version-check", "--"]);
    pip.args(&manifest.requirements);
    run(
        &mut pip,
        PYTHON,
        &format!("{ENVIRONMENT}/bin/python -m pip install {shown}"),
    )?;
    fs::write(&stamp, wanted).map_err(BuildError::io(&stamp))?;
    if is_right(&own) {
        return Ok(own);
    }
    Err(BuildError::Unexpected {
        tool: COMPONENTIZE.name,
        message: format!(
            "it is not version {} after it was installed",
            manifest.toolchain
        ),
    })
}

/// What a toolchain says of its version, `componentize-py 0.25.1`; `None` where there is none.
fn version_of(tool: &Path, folder: &Path) -> Option<String> {
    let mut tool = command(tool, folder);
    let output = tool.arg("--version").stdout(Stdio::piped()).output().ok()?;
    let said = String::from_utf8_lossy(&output.stdout);
    Some(
        said.trim()
            .strip_prefix(COMPONENTIZE.name)?
            .trim()
            .to_owned(),
    )
}

/// The toolchain with what every use of it says.
fn componentize(tool: &Path, manifest: &Python, wit: &Wit) -> std::process::Command {
    let folder = &manifest.project.folder;
    let mut command = command(tool, folder);
    if folder.join(ENVIRONMENT).is_dir() {
        command.env("VIRTUAL_ENV", folder.join(ENVIRONMENT));
    }
    command.arg("--quiet");
    command.arg("--wit-path").arg(&manifest.project.wit);
    command.args(["--world", wit.world()]);
    command
}

/// Writes what the WIT is in Python, for tests and editors; the component gets its own.
fn write_bindings(tool: &Path, manifest: &Python, wit: &Wit) -> Result<(), BuildError> {
    let folder = &manifest.project.folder;
    let place = folder.join(BINDINGS_FOLDER);
    if place.exists() && !place.join("wit_world").is_dir() {
        return Err(BuildError::Manifest {
            path: place,
            message: "it is where a build writes the bindings of the WIT; give it another name"
                .to_owned(),
        });
    }
    let fresh = folder.join(format!(".{BINDINGS_FOLDER}-{}", std::process::id()));
    let mut tool = componentize(tool, manifest, wit);
    let written = run(
        tool.arg("bindings").arg(&fresh),
        COMPONENTIZE,
        &format!("componentize-py bindings {BINDINGS_FOLDER}"),
    );
    let moved = written.and_then(|()| {
        if place.exists() {
            fs::remove_dir_all(&place).map_err(BuildError::io(&place))?;
        }
        fs::rename(&fresh, &place).map_err(BuildError::io(&place))
    });
    if moved.is_err() {
        // The failure that is reported is the one that came first.
        let _ = fs::remove_dir_all(&fresh);
    }
    moved
}
