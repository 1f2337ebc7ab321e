import TimerdCommand

Program.run()
