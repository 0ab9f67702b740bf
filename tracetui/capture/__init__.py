"""Makes trace files beside the layers; reads none."""
