enum TimerServicePlaceholder {}
