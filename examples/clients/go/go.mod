module flakeforge.example/ids

go 1.21
