"""HTTP on the one side, `Call` and `Answer` on the other: routes, bodies, content types, the error boundary."""
