enum TimerCorePlaceholder {}
