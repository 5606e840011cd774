/**
 * PostgreSQL's settings for one small machine, given on its command line at each start, so that a new version of Sluice
 * brings its own. As durable as its defaults; what is turned off is what one Sluice alone has no use for.
 */
export const SERVER_SETTINGS: Record<string, string | number> = {
  shared_buffers: '24MB',
  // Enough for sixteen upload processes; those that are not used cost next to nothing.
  max_connections: 200,
  work_mem: '4MB',
  maintenance_work_mem: '32MB',
  // Up to half a gigabyte of log between two checkpoints.
  max_wal_size: '512MB',
  min_wal_size: '64MB',
  wal_level: 'minimal',
  max_wal_senders: 0,
  max_logical_replication_workers: 0,
  max_worker_processes: 0,
  max_parallel_workers: 0,
  max_parallel_workers_per_gather: 0,
  max_parallel_maintenance_workers: 0,
  autovacuum_max_workers: 1,
  autovacuum_worker_slots: 1,
  io_method: 'sync',
  jit: 'off',
  huge_pages: 'off',
  // /dev/shm has 64 MiB in a container.
  dynamic_shared_memory_type: 'mmap',
  // Its starts, ends and crashes. A failed statement is the business of whoever sent it, and may hold secrets.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
  log_line_prefix: '',
}
