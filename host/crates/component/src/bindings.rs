//! The generated bindings of the contract. Nothing else is generated, and nothing here is written.

#![allow(
    missing_docs,
    unreachable_pub,
    clippy::all,
    clippy::pedantic,
    reason = "generated code"
)]

wasmtime::component::bindgen!({
    path: "../../../wit",
    inline: "
        package openprogram:host;

        world host {
            import openprogram:agentic/types@0.1.0;
            import openprogram:agentic/runtime@0.1.0;
            import openprogram:agentic/decision@0.1.0;
            import openprogram:agentic/functions@0.1.0;
            import openprogram:agentic/ask@0.1.0;
            import openprogram:agentic/progress@0.1.0;
            import openprogram:agentic/decision-state@0.1.0;
            import openprogram:agentic/completion@0.1.0;
            export openprogram:agentic/metadata@0.1.0;
            export openprogram:agentic/decider@0.1.0;
            export openprogram:agentic/model@0.1.0;
        }
    ",
    world: "openprogram:host/host",
    imports: { default: async | trappable },
    exports: { default: async },
    with: {
        "openprogram:agentic/runtime.runtime": crate::handles::RuntimeHandle,
        "openprogram:agentic/runtime.request": crate::handles::RequestHandle,
        "wasi:io/poll": wasmtime_wasi::p2::bindings::io::poll,
        "openprogram:agentic/runtime.turn": crate::handles::TurnHandle,
        "openprogram:agentic/runtime.reply": crate::handles::ReplyHandle,
        "openprogram:agentic/runtime.usage": crate::handles::UsageHandle,
        "openprogram:agentic/decision.menu": crate::handles::MenuHandle,
        "openprogram:agentic/decision.picked": crate::handles::PickedHandle,
        "openprogram:agentic/ask.card": crate::handles::CardHandle,
        "openprogram:agentic/ask.answer": crate::handles::AnswerHandle,
        "openprogram:agentic/decision-state.state": crate::handles::StateHandle,
        "openprogram:agentic/completion.prompt": crate::handles::PromptHandle,
        "openprogram:agentic/completion.sink": crate::handles::SinkHandle,
    },
});
