module example.com/versions

go 1.24.0

require github.com/wgate/wgate/plugins/sdk-go v0.0.0

replace github.com/wgate/wgate/plugins/sdk-go => ../../../plugins/sdk-go
