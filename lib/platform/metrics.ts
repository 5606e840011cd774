import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import manifest from '../../package.json' with { type: 'json' }

/** Every metric in `/metrics`. One set per process, created by the composition root. */
export type Metrics = ReturnType<typeof createMetrics>

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter({ name, help, labelNames, registers })
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Gauge({ name, help, labelNames, registers })
  const build = gauge('sluice_build_info', '1 for the running version', ['version', 'node'])
  build.set({ version: manifest.version, node: process.version }, 1)
  const histogram = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Histogram({ name, help, labelNames, buckets: SECONDS, registers })
  return {
    registry,
    http: histogram('sluice_http_seconds', 'Time to respond to a request', ['handler', 'method', 'status']),
    uploadBytes: counter('sluice_upload_bytes_total', 'Confirmed bytes of uploads'),
    uploadsOpen: gauge('sluice_upload_requests_open', 'Requests that are currently sending bytes'),
    uploadsFinished: counter('sluice_uploads_total', 'Uploads that ended', ['status']),
    destinationsFailed: counter('sluice_destinations_failed_total', 'Abandoned destinations', ['reason']),
    repairs: counter('sluice_repairs_total', 'Attempts to copy a missing object', ['outcome']),
    resumes: counter('sluice_upload_resumes_total', 'Uploads that continued after an interruption'),
    contentVerified: counter('sluice_upload_content_total', 'Files whose content was verified', ['outcome']),
    memoryLeaked: counter('sluice_upload_memory_leaked_bytes_total', 'Upload memory not returned: a bug'),
    savedBytes: counter('sluice_upload_saved_bytes_total', 'Bytes that resumed uploads did not send again'),
    leasesTakenOver: counter('sluice_leases_taken_over_total', 'Leases taken from other holders', ['how']),
    renewalsLate: counter('sluice_lease_renewals_late_total', 'Late renewals, which put a lease at risk'),
    bucketRequests: counter('sluice_bucket_requests_total', 'Requests to buckets', ['operation', 'outcome']),
    bucketBytes: counter('sluice_bucket_bytes_total', 'Bytes accepted by buckets, at each destination', [
      'operation',
    ]),
    bucketSeconds: histogram('sluice_bucket_seconds', 'Duration of a bucket request', ['operation']),
    tokens: counter('sluice_tokens_total', 'Token API responses', ['code']),
    webhookAttempts: counter('sluice_webhook_attempts_total', 'Attempts to deliver a webhook', ['outcome']),
    webhookSeconds: histogram('sluice_webhook_seconds', 'Duration of a webhook attempt'),
    webhookDelay: histogram('sluice_webhook_delay_seconds', 'Time from an event to the first attempt'),
    hookAttempts: counter('sluice_hook_attempts_total', 'Decision hook attempts', ['hook', 'outcome']),
    hookDecisions: counter('sluice_hook_decisions_total', 'Hook decisions', ['hook', 'decision']),
    hookSeconds: histogram('sluice_hook_seconds', 'Duration of a decision hook attempt', ['hook']),
    sftpRefusals: counter('sluice_sftp_refusals_total', 'Refused SFTP connections and sign-ins', ['reason']),
    ftpRefusals: counter('sluice_ftp_refusals_total', 'Refused FTP connections and sign-ins', ['reason']),
    ...current(gauge),
    ...backlog(gauge),
  }
}

type MakeGauge = <L extends string>(name: string, help: string, labelNames?: readonly L[]) => Gauge<L>

/** Gauges for this process. */
function current(gauge: MakeGauge) {
  return {
    memoryUsed: gauge('sluice_upload_memory_bytes', 'Upload memory budget in use'),
    memoryPeak: gauge('sluice_upload_memory_peak_bytes', 'Peak use of the upload memory budget'),
    memoryLimit: gauge('sluice_upload_memory_limit_bytes', 'Upload memory budget'),
    sftpConnections: gauge('sluice_sftp_connections', 'Open SFTP connections'),
    ftpConnections: gauge('sluice_ftp_connections', 'Open FTP control connections'),
  }
}

/** Gauges for the entire installation, which each worker reads from the database. */
function backlog(gauge: MakeGauge) {
  return {
    backlogMeasured: gauge(
      'sluice_backlog_measured_timestamp_seconds',
      'When a worker last measured the backlog',
    ),
    deliveriesPending: gauge('sluice_webhook_deliveries_pending', 'Waiting deliveries, by age', ['age']),
    deliveriesOldestDue: gauge(
      'sluice_webhook_oldest_due_seconds',
      'How long the oldest due delivery has waited',
    ),
    queueJobs: gauge('sluice_queue_jobs', 'Jobs that are due', ['queue']),
    uploadsUnfinished: gauge('sluice_uploads_unfinished', 'Uploads that have not ended', ['status']),
    tailOldest: gauge('sluice_tail_oldest_seconds', "Age of the oldest tail's last byte", ['status']),
    databaseConnections: gauge('sluice_database_connections', 'Connections to the database server', [
      'state',
    ]),
    databaseConnectionsLimit: gauge('sluice_database_connections_limit', 'max_connections of the server'),
  }
}
