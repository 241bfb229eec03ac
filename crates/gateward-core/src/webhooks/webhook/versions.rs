//! Versions of a kind beside the hub's.

use std::any::{Any, TypeId};
use std::sync::Arc;

use crate::conversion::Convert;
use crate::rule::into_handler::{IntoDefaulter, IntoValidator};
use crate::rule::resource::Resource;
use crate::webhooks::converter::Converter;
use crate::webhooks::error::WebhooksError;
use crate::webhooks::judge::{Defaulting, Validating};
use crate::webhooks::webhook::{LackOfDefaults, Spoke, Webhook};
use crate::wire::review::Review;

impl<H: Resource, S> Webhook<H, S> {
    /// Another version, read as the hub's by `conversion` and made of it. Objects of all versions with a conversion are
    /// converted into each other; [`Webhooks::convert`](crate::Webhooks::convert) shows how.
    pub fn spoke<V: Resource>(mut self, conversion: impl Convert<V, H>) -> Self {
        self.declaration.stashes.get_or_insert_default().extend(conversion.annotations());
        let second = self.version::<V>().lift.replace(Arc::new(Converter::new(conversion)));
        if second.is_some() {
            self.problems.push(WebhooksError::TwoConversions { version: V::gvk().to_string() });
        }
        self
    }

    /// Judges version `V` as the user wrote it. Objects of that version are then not converted for
    /// [`validator`](Self::validator).
    pub fn validator_for<V: Resource, M>(mut self, validator: impl IntoValidator<V, M, S>) -> Self {
        let validator = validator.into_validator(&self.state);
        self.judged_on(Review::Validate, validator.operations);
        let slot = self.version::<V>().validating.get_or_insert_with(|| Box::new(Validating::<V>(Vec::new())));
        // Where it is of another type, `version` has found that out.
        if let Some(Validating(validators)) = of_one_type(slot.as_mut()) {
            validators.push(validator.validator);
        }
        self
    }

    /// Defaults version `V` as the user wrote it.
    pub fn defaulter_for<V: Resource, M>(mut self, defaulter: impl IntoDefaulter<V, M, S>) -> Self {
        let defaulter = defaulter.into_defaulter(&self.state);
        self.judged_on(Review::Mutate, defaulter.operations);
        let slot = self.version::<V>().defaulting.get_or_insert_with(|| Box::new(Defaulting::<V>(Vec::new())));
        if let Some(Defaulting(defaulters)) = of_one_type(slot.as_mut()) {
            defaulters.push(defaulter.defaulter);
        }
        self
    }

    /// Objects of version `V` get no defaults, although they are sent and those of the hub get some.
    pub fn no_defaults_for<V: Resource>(mut self) -> Self {
        self.version::<V>().lack_of_defaults = LackOfDefaults::Intended;
        self
    }

    fn version<V: Resource>(&mut self) -> &mut Spoke<H> {
        let known = self.spokes.iter().position(|spoke| spoke.version == V::version());
        let position = known.unwrap_or_else(|| self.new_version::<V>());
        if self.spokes[position].written != TypeId::of::<V>() {
            self.problems.push(WebhooksError::TwoTypes { version: V::gvk().to_string() });
        }
        &mut self.spokes[position]
    }

    fn new_version<V: Resource>(&mut self) -> usize {
        if V::gvk().same_kind(&H::gvk()) && (V::plural() != H::plural() || V::scope() != H::scope()) {
            let (hub, version) = (H::gvk().to_string(), V::gvk().to_string());
            self.problems.push(WebhooksError::OtherResource { hub, version });
        }
        if !V::gvk().same_kind(&H::gvk()) || V::version() == H::version() {
            let (hub, version) = (H::gvk().to_string(), V::gvk().to_string());
            self.problems.push(WebhooksError::NoOtherVersion { hub, version });
        }
        self.add_version(Spoke::of(V::version(), TypeId::of::<V>()));
        self.spokes.len() - 1
    }
}

/// The handlers in a slot, if they are of the type that is to be added to them.
fn of_one_type<T: Any>(slot: &mut dyn Any) -> Option<&mut T> {
    slot.downcast_mut()
}
