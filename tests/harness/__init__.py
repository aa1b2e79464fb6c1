"""Tests of `suture.harness`."""
