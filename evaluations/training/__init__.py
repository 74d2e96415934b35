"""Training of metrics that learn (ADEM, KPQA), for the commands train-adem and train-kpqa."""
