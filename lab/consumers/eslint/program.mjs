import FlakeId from 'flakeforge'
import format from 'flakeforge/biguint-format'
import { parse } from 'flakeforge/codec'
import { SegmentId } from 'flakeforge/lease'
import { prometheusMetrics } from 'flakeforge/metrics'
import { RemoteFlakeId } from 'flakeforge/remote'

console.log(FlakeId, format, parse, SegmentId, prometheusMetrics, RemoteFlakeId)
