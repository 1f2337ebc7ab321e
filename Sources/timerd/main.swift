print("timerd")
