"""Tests of `suture.transcript`."""
