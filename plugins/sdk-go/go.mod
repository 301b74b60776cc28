module github.com/wgate/wgate/plugins/sdk-go

go 1.24.0
