//! Builds a Python project: pip installs what it pins into an environment of the project, and
//! componentize-py makes the component, with CPython inside.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use openprogram_component::Wit;

use super::manifest::Python;
use super::tools::{Tool, command, run, run_renamed};
use super::words::place;
use super::{BINDINGS_FOLDER, BuildError, Built, OUTPUT_FOLDER, check_sdk, name_of};

const PYTHON: Tool = Tool {
    name: "python3",
    install: "install Python 3.10 or newer with its `venv` from https://www.python.org, or with \
              the tool that installs programs here, for example `apt install python3-venv`",
};
const COMPONENTIZE: Tool = Tool {
    name: "componentize-py",
    install: "remove the folder `.venv` of the project, and build again to have it installed there",
};
/// The oldest Python that the toolchain is made for.
const PYTHON_LEAST: (u32, u32) = (3, 10);
/// The environment of a project.
const ENVIRONMENT: &str = ".venv";
/// What a build has installed into it, one requirement a line.
const INSTALLED: &str = "openprogram-installed.txt";
/// Compiles files without writing anything, so that a mistake is told with its place.
const CHECK: &str = "import sys\n\
     for path in sys.argv[1:]: compile(open(path, 'rb').read(), path, 'exec', dont_inherit=True)";
/// Most files that are checked before the build.
const CHECKED_FILES_MAX: usize = 200;

/// Builds the component of a folder. What is done besides is told to `words`.
pub(super) fn build(folder: &Path, words: &mut dyn Write) -> Result<Built, BuildError> {
    let folder = &absolute(folder);
    let manifest = Python::read(folder)?;
    let project = &manifest.project;
    check_sdk(folder, words)?;
    let wit = Wit::read(&project.wit, project.world.as_deref())?;
    PYTHON.check(folder, PYTHON_LEAST)?;
    check_sources(folder)?;
    let tool = toolchain(&manifest, words)?;
    write_bindings(&tool, &manifest, &wit)?;

    let component = project.component();
    let made = component.with_extension("made");
    let output = folder.join(OUTPUT_FOLDER);
    fs::create_dir_all(&output).map_err(io_error(&output))?;
    let mut python = componentize(&tool, &manifest, &wit);
    // Sockets are never granted, and there is no way to leave out these alone.
    python.args(["componentize", &manifest.module, "--stub-wasi"]);
    let paths = python_paths(folder);
    for path in &paths {
        python.arg("-p").arg(path);
    }
    python.arg("--output").arg(&made);
    let shown = format!("componentize-py componentize {}", manifest.module);
    // The tool sees its paths as `/0`, `/1` and so on.
    let renamed: Vec<_> = paths
        .iter()
        .enumerate()
        .map(|(at, path)| (format!("File \"/{at}/"), format!("File \"{path}/")))
        .collect();
    let renamed: Vec<_> = renamed.iter().map(|(a, b)| (&**a, &**b)).collect();
    run_renamed(&mut python, COMPONENTIZE, &shown, &renamed)?;
    let placed = place(&made, &wit, &component);
    // What is left over is made anew by the next build.
    let _ = fs::remove_file(&made);
    placed?;
    Ok(Built {
        package: name_of(&component),
        folder: folder.clone(),
        path: component,
    })
}

fn io_error(path: &Path) -> impl FnOnce(std::io::Error) -> BuildError {
    let path = path.to_owned();
    move |source| BuildError::Io { path, source }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Where modules are looked for, below the folder: the source, then the SDK.
fn python_paths(folder: &Path) -> Vec<&'static str> {
    let source = if folder.join("src").is_dir() {
        "src"
    } else {
        "."
    };
    let sdk = folder.join("sdk").is_dir().then_some("sdk");
    [source].into_iter().chain(sdk).collect()
}

/// Refuses a source that is no Python, with the place of the mistake.
fn check_sources(folder: &Path) -> Result<(), BuildError> {
    let [source, ..] = python_paths(folder)[..] else {
        return Ok(());
    };
    let source_folder = folder.join(source);
    let entries = fs::read_dir(&source_folder).map_err(io_error(&source_folder))?;
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
    fs::write(&stamp, wanted).map_err(io_error(&stamp))?;
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
            fs::remove_dir_all(&place).map_err(io_error(&place))?;
        }
        fs::rename(&fresh, &place).map_err(io_error(&place))
    });
    if moved.is_err() {
        // The failure that is reported is the one that came first.
        let _ = fs::remove_dir_all(&fresh);
    }
    moved
}
