"""Errors of descriptors, which have all faults with their paths in one list (M7, M18)."""

from __future__ import annotations

from batsched_py.errors import WorkloadError


class DescriptorError(WorkloadError):
    """The error for a document that is not a descriptor of an experiment."""


class DescriptorSyntaxError(DescriptorError):
    """The error for a document that is not valid JSON or supported XML."""


class DescriptorSizeError(DescriptorError):
    """The error for a document that is too large."""


class InvalidDescriptorError(DescriptorError):
    """The error for a document that breaks rules; its text is the first fault and the number of others."""
