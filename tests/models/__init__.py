"""Tests of `suture.models`."""
