"""The reference direction approach: a walk over efficient solutions."""
