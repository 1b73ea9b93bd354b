//! What turns and decisions show, in a native build.

use openprogram_guest::decision::{self, Menu};
use openprogram_guest::testing::{MockMediumKind, MockRuntime};
use openprogram_guest::{CacheTtl, FailureKind, Request, json};

#[test]
fn a_decision_shows_what_its_menu_holds() {
    let mock = MockRuntime::new()
        .pick("cat", json!({}))
        .pick("dog", json!({}));
    let menu = || Menu::new().value("cat", 1).value("dog", 2);
    let shown = menu()
        .image(b"png", "image/png")
        .video(b"film", "")
        .audio(b"mp3", "")
        .file("photos/a.jpg");
    assert_eq!(decision::make("What?", &shown).unwrap().as_str(), "1");
    assert_eq!(decision::pick("What?", &menu()).unwrap().name(), "dog");
    let asked = mock.requests();
    let media = asked[0].media.iter();
    let media: Vec<_> = media
        .map(|medium| {
            (
                medium.kind,
                medium.data.len(),
                &*medium.mime_type,
                &*medium.path,
            )
        })
        .collect();
    let expected = [
        (MockMediumKind::Image, 3, "image/png", ""),
        (MockMediumKind::Video, 4, "", ""),
        (MockMediumKind::Audio, 3, "", ""),
        (MockMediumKind::File, 0, "", "photos/a.jpg"),
    ];
    assert_eq!(media, expected);
    assert!(asked[1].media.is_empty());
    // A turn that closes with a decision shows what its request shows.
    let request = Request::new("Look.").choices(shown);
    let refused = mock.runtime().exec(&request).unwrap_err();
    assert_eq!(refused.kind(), FailureKind::InvalidArgument);
    assert_eq!(mock.requests().len(), 2);
}

#[test]
fn marks_for_the_cache_tell_how_long_it_is_to_be_kept() {
    let mock = MockRuntime::new().reply("Seen.");
    let request = Request::new("A book.")
        .mark_cache_for(CacheTtl::Hour)
        .text("A page.")
        .mark_cache_for(CacheTtl::FiveMinutes)
        .mark_cache();
    mock.runtime().exec(request).unwrap();
    let marks = [Some(CacheTtl::Hour), Some(CacheTtl::FiveMinutes), None];
    assert_eq!(mock.requests()[0].cache_marks, marks);
}
