"""What the checkpoint folder of an application holds, beside the plans of its batches."""
