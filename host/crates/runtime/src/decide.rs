//! Decisions: a menu put to a model, its reply read and checked, asked again, resolved.

use std::sync::Arc;

use openprogram_core::Json;
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::guest::{DecisionRequest, PickedOption};

use crate::frame::Frame;
use crate::ports::Ports;
use crate::{DecideRequest, DecidedPick};

pub(crate) struct CheckedMenu {}

impl CheckedMenu {
    pub(crate) fn new(_ports: &Ports, _request: &DecideRequest) -> Result<Self, Failure> {
        Err(Failure::new(FailureCode::Internal, "not there yet"))
    }
}

pub(crate) async fn decide_at_top(
    _ports: &Ports,
    _frame: &Frame,
    _menu: CheckedMenu,
) -> Result<DecidedPick, Failure> {
    Err(Failure::new(FailureCode::Internal, "not there yet"))
}

pub(crate) async fn make_decision(
    _ports: &Arc<Ports>,
    _frame: &Arc<Frame>,
    _request: DecisionRequest,
) -> Result<Json, Failure> {
    Err(Failure::new(FailureCode::Internal, "not there yet"))
}

pub(crate) async fn pick_option(
    _ports: &Ports,
    _frame: &Frame,
    _request: DecisionRequest,
) -> Result<PickedOption, Failure> {
    Err(Failure::new(FailureCode::Internal, "not there yet"))
}
