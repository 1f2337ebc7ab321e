enum TimerAPIPlaceholder {}
