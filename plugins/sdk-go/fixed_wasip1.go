package wgate

func checkFixed(string, any) {}
