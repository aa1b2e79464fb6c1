"""Tests of `suture.testing`."""
