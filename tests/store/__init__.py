"""Tests of `suture.store`."""
