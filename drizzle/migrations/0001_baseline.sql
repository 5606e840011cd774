-- The whole schema. Each later migration extends it.
CREATE TABLE account_keys (
	id uuid NOT NULL,
	workspace_id uuid NOT NULL,
	name text NOT NULL,
	key_hash text NOT NULL,
	last4 text NOT NULL,
	last_used_at timestamp(3) with time zone,
	revoked_at timestamp(3) with time zone,
	created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
	scope text DEFAULT 'admin'::text NOT NULL,
	created_by uuid,
	expires_at timestamp(3) with time zone,
	CONSTRAINT "account_keys_keyHash_unique" UNIQUE (key_hash),
	CONSTRAINT account_keys_pkey PRIMARY KEY (id)
);--> statement-breakpoint
CREATE TABLE alerts (
	id uuid NOT NULL,
	workspace_id uuid NOT NULL,
	kind text NOT NULL,
	subject_id text NOT NULL,
	subject text NOT NULL,
	detail text,
	raised_at timestamp(3) with time zone NOT NULL,
	cleared_at timestamp(3) with time zone,
	sent text DEFAULT 'nothing'::text NOT NULL,
	CONSTRAINT alerts_pkey PRIMARY KEY (id)
);--> statement-breakpoint
CREATE TABLE attempts (
	id uuid NOT NULL,
	delivery_id uuid NOT NULL,
	trigger text NOT NULL,
	at timestamp(3) with time zone NOT NULL,
	duration_ms integer,
	url text NOT NULL,
	request_headers jsonb NOT NULL,
	status integer,
	response_headers jsonb,
	response_body text,
	error text,
	error_detail text,
	CONSTRAINT attempts_pkey PRIMARY KEY (id)
) PARTITION BY RANGE (id);--> statement-breakpoint
CREATE TABLE audit_log (
	id uuid NOT NULL,
	workspace_id uuid NOT NULL,
	actor_kind text NOT NULL,
	actor_id text,
	actor_label text NOT NULL,
	action text NOT NULL,
	subject_id text,
	subject_label text,
	detail jsonb DEFAULT '{}'::jsonb NOT NULL,
	created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
	client_address text,
	CONSTRAINT audit_log_pkey PRIMARY KEY (id)
);--> statement-breakpoint
CREATE TABLE batches (
	id uuid NOT NULL,
	workspace_id uuid NOT NULL,
	pipe_id text NOT NULL,
	sender_id uuid NOT NULL,
	subject text,
	name text NOT NULL,
	by_token boolean NOT NULL,
	sealed_at timestamp(3) with time zone,
	completed_at timestamp(3) with time zone,
	created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT batches_pkey PRIMARY KEY (id)
);--> statement-breakpoint
CREATE TABLE configuration_locks (
	workspace_id uuid NOT NULL,
	holder uuid NOT NULL,
	holder_label text NOT NULL,
	locked_until timestamp(3) with time zone NOT NULL,
	CONSTRAINT configuration_locks_pkey PRIMARY KEY (workspace_id)
);--> statement-breakpoint
CREATE TABLE counts (
	workspace_id uuid NOT NULL,
	span text NOT NULL,
	at timestamp(3) with time zone NOT NULL,
	pipe_id text NOT NULL,
	transferred integer DEFAULT 0 NOT NULL,
	failed integer DEFAULT 0 NOT NULL,
	expired integer DEFAULT 0 NOT NULL,
	canceled integer DEFAULT 0 NOT NULL,
	delivered integer DEFAULT 0 NOT NULL,
	undelivered integer DEFAULT 0 NOT NULL,
	bytes bigint DEFAULT 0 NOT NULL,
	durations integer[] NOT NULL,
	CONSTRAINT counts_workspace_id_span_at_pipe_id_pk PRIMARY KEY (workspace_id, span, at, pipe_id)
);--> statement-breakpoint
CREATE TABLE data_stores (
	id uuid NOT NULL,
	workspace_id uuid NOT NULL,
	name text NOT NULL,
	provider text NOT NULL,
	endpoint text NOT NULL,
	region text NOT NULL,
	bucket text NOT NULL,
	prefix text DEFAULT ''::text NOT NULL,
	force_path_style boolean NOT NULL,
	access_key_id_encrypted text NOT NULL,
	secret_access_key_encrypted text NOT NULL,
	storage_class text,
	encryption jsonb,
	"check" jsonb,
	may_abort boolean DEFAULT false NOT NULL,
	may_read boolean DEFAULT false NOT NULL,
	may_delete boolean DEFAULT false NOT NULL,
	created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
	updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
	deleted_at timestamp(3) with time zone,
	found jsonb,
	rejecting_since timestamp(3) with time zone,
	rejection text,
	rejected_at timestamp(3) with time zone,
	recheck_at timestamp(3) with time zone,
	ready_at timestamp(3) with time zone,
	turned_off_at timestamp(3) with time zone,
	CONSTRAINT data_stores_pkey PRIMARY KEY (id)
);--> statement-breakpoint
CREATE TABLE deliveries (
	id uuid NOT NULL,
	workspace_id uuid NOT NULL,
	event_id uuid NOT NULL,
	pipe_id text NOT NULL,
	file_id uuid,
	test boolean DEFAULT false NOT NULL,
	webhook_output_id uuid NOT NULL,
	url text NOT NULL,
	state text DEFAULT 'pending'::text NOT NULL,
	attempt_count integer DEFAULT 0 NOT NULL,
	next_trigger text DEFAULT 'auto'::text NOT NULL,
	next_attempt_at timestamp(3) with time zone,
	claimed_by uuid,
	claimed_until timestamp(3) with time zone,
	last_status integer,
	last_error text,
	delivered_at timestamp(3) with time zone,
	created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT deliveries_pkey PRIMARY KEY (id)
) PARTITION BY RANGE (id);--> statement-breakpoint
CREATE TABLE email_links (
	token_hash text NOT NULL,
	user_id uuid NOT NULL,
	purpose text NOT NULL,
	email text NOT NULL,
	expires_at timestamp(3) with time zone NOT NULL,
	used_at timestamp(3) with time zone,
	created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT email_links_pkey PRIMARY KEY (token_hash)
);--> statement-breakpoint
CREATE TABLE events (
	id uuid NOT NULL,
	workspace_id uuid NOT NULL,
	pipe_id text NOT NULL,
	file_id uuid,
	kind text DEFAULT 'file.status_changed'::text NOT NULL,
	test boolean DEFAULT false NOT NULL,
	payload text,
	created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
	missed_status text,
	request_id text,
	traceparent text,
	fanned_out boolean DEFAULT false NOT NULL,
	CONSTRAINT events_pkey PRIMARY KEY (id)
) PARTITION BY RANGE (id);--> statement-breakpoint
CREATE TABLE events_to_fan_out (
	event_id uuid NOT NULL,
	CONSTRAINT events_to_fan_out_pkey PRIMARY KEY (event_id)
);--> statement-breakpoint
CREATE TABLE file_decisions (
	file_id uuid NOT NULL,
	hook text NOT NULL,
	state text NOT NULL,
	decided_by text NOT NULL,
	reason text,
	result jsonb,
	decided_at timestamp(3) with time zone NOT NULL,
	deferred_until timestamp(3) with time zone,
	CONSTRAINT file_decisions_file_id_hook_pk PRIMARY KEY (file_id, hook)
);--> statement-breakpoint
CREATE TABLE file_destinations (
	file_id uuid NOT NULL,
	data_store_id uuid NOT NULL,
	bucket text NOT NULL,
	key text NOT NULL,
	status text DEFAULT 'pending'::text NOT NULL,
	multipart_id text,
	etag text,
	certainty text,
	abort_pending boolean DEFAULT false NOT NULL,
	abort_at timestamp(3) with time zone,
	"position" smallint DEFAULT 1 NOT NULL,
	required boolean DEFAULT true NOT NULL,
	reason text,
	reason_detail text,
	repair_at timestamp(3) with time zone,
	repair_attempts smallint,
	repair_claim text,
	repair_until timestamp(3) with time zone,
	storage jsonb,
	CONSTRAINT file_destinations_file_id_data_store_id_pk PRIMARY KEY (file_id, data_store_id)
);--> statement-breakpoint
CREATE TABLE file_parts (
	file_id uuid NOT NULL,
	number integer NOT NULL,
	offset_bytes bigint NOT NULL,
	size_bytes bigint NOT NULL,
	etags text[] NOT NULL,
	crc32 bigint NOT NULL,
	CONSTRAINT file_parts_file_id_number_pk PRIMARY KEY (file_id, number)
);--> statement-breakpoint
CREATE TABLE file_timeline (
	id uuid NOT NULL,
	file_id uuid NOT NULL,
	kind text NOT NULL,
	detail jsonb DEFAULT '{}'::jsonb NOT NULL,
	at timestamp(3) with time zone NOT NULL,
	CONSTRAINT file_timeline_pkey PRIMARY KEY (id)
) PARTITION BY RANGE (id);--> statement-breakpoint
CREATE TABLE files (
	id uuid NOT NULL,
	workspace_id uuid NOT NULL,
	pipe_id text NOT NULL,
	token_id uuid,
	continued_by uuid[] DEFAULT '{}'::uuid[] NOT NULL,
	sender_id uuid,
	sender_name text NOT NULL,
	subject text,
	protocol text DEFAULT 'tus'::text NOT NULL,
	filename text NOT NULL,
	filetype text,
	upload_metadata_header text,
	upload_metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
	metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
	status text DEFAULT 'uploading'::text NOT NULL,
	failure_reason text,
	length_bytes bigint,
	offset_bytes bigint DEFAULT 0 NOT NULL,
	crc32 bigint DEFAULT 0 NOT NULL,
	concat text,
	concat_parts uuid[],
	concat_header text,
	joined_into uuid,
	part_bytes bigint,
	lease_holder text,
	lease_fence integer DEFAULT 0 NOT NULL,
	lease_until timestamp(3) with time zone,
	counted_bytes bigint DEFAULT 0 NOT NULL,
	reserved_bytes bigint DEFAULT 0 NOT NULL,
	reserved_month text,
	complete_sent_at timestamp(3) with time zone,
	complete_attempts integer DEFAULT 0 NOT NULL,
	interrupted boolean DEFAULT false NOT NULL,
	resume_count integer DEFAULT 0 NOT NULL,
	saved_bytes bigint DEFAULT 0 NOT NULL,
	retired_at timestamp(3) with time zone,
	first_byte_at timestamp(3) with time zone,
	last_byte_at timestamp(3) with time zone,
	expiry_seconds integer NOT NULL,
	expires_at timestamp(3) with time zone NOT NULL,
	expires_by timestamp(3) with time zone DEFAULT (now() + '30 days'::interval) NOT NULL,
	finished_at timestamp(3) with time zone,
	erased_at timestamp(3) with time zone,
	created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
	recorded_parts integer DEFAULT 0 NOT NULL,
	recorded_bytes bigint DEFAULT 0 NOT NULL,
	bound_ends bigint[] DEFAULT '{}'::bigint[] NOT NULL,
	last_request_id text,
	last_traceparent text,
	complete_refused boolean DEFAULT false NOT NULL,
	object jsonb,
	folder text,
	verify_content boolean,
	found_type text,
	declared_crc32 bigint,
	decision text,
	batch_id uuid,
	length_came_last boolean,
	CONSTRAINT files_pkey PRIMARY KEY (id)
);--> statement-breakpoint
CREATE TABLE further_pipe_destinations (
	pipe_id text NOT NULL,
	data_store_id uuid NOT NULL,
	"position" smallint NOT NULL,
	required boolean NOT NULL,
	CONSTRAINT further_pipe_destinations_pipe_id_position_pk PRIMARY KEY (pipe_id, "position")
);--> statement-breakpoint
CREATE TABLE idempotency_keys (
	workspace_id uuid NOT NULL,
	actor_id text NOT NULL,
	key text NOT NULL,
	request_hash text NOT NULL,
	status integer,
	body text,
	created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT idempotency_keys_workspace_id_actor_id_key_pk PRIMARY KEY (workspace_id, actor_id, key)
);--> statement-breakpoint
CREATE TABLE identities (
	provider text NOT NULL,
	provider_account_id text NOT NULL,
	user_id uuid NOT NULL,
	created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
	email text,
	CONSTRAINT identities_provider_provider_account_id_pk PRIMARY KEY (provider, provider_account_id)
);--> statement-breakpoint
CREATE TABLE imports (
	file_id uuid NOT NULL,
	workspace_id uuid NOT NULL,
	shown_url text NOT NULL,
	sealed text NOT NULL,
	sha256 text,
	hashed_bytes bigint DEFAULT 0 NOT NULL,
	hash_state text,
	validator text,
	failures integer DEFAULT 0 NOT NULL,
	failing_since timestamp(3) with time zone,
	last_error text,
	due_at timestamp(3) with time zone,
	claim uuid,
	claimed_until timestamp(3) with time zone,
	created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT imports_pkey PRIMARY KEY (file_id)
);--> statement-breakpoint
CREATE TABLE inbox_messages (
	id uuid NOT NULL,
	workspace_id uuid NOT NULL,
	webhook_id text,
	headers jsonb NOT NULL,
	body text NOT NULL,
	created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT inbox_messages_pkey PRIMARY KEY (id)
);--> statement-breakpoint
CREATE TABLE invitations (
	id uuid NOT NULL,
	workspace_id uuid NOT NULL,
	email text NOT NULL,
	role text NOT NULL,
	token_hash text NOT NULL,
	invited_by text NOT NULL,
	sent_at timestamp(3) with time zone NOT NULL,
	expires_at timestamp(3) with time zone NOT NULL,
	created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT invitations_pkey PRIMARY KEY (id),
	CONSTRAINT "invitations_tokenHash_unique" UNIQUE (token_hash)
);--> statement-breakpoint
CREATE TABLE members (
	workspace_id uuid NOT NULL,
	user_id uuid NOT NULL,
	role text NOT NULL,
	created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT members_workspace_id_user_id_pk PRIMARY KEY (workspace_id, user_id)
);--> statement-breakpoint
CREATE TABLE nodes (
	id uuid NOT NULL,
	version text NOT NULL,
	roles text[] NOT NULL,
	started_at timestamp(3) with time zone NOT NULL,
	seen_at timestamp(3) with time zone NOT NULL,
	uploads integer NOT NULL,
	memory_used_bytes bigint NOT NULL,
	memory_bytes bigint NOT NULL,
	CONSTRAINT nodes_pkey PRIMARY KEY (id)
);--> statement-breakpoint
CREATE TABLE pipe_destinations (
	pipe_id text NOT NULL,
	data_store_id uuid NOT NULL,
	required boolean DEFAULT true NOT NULL,
	CONSTRAINT pipe_destinations_pipe_id_data_store_id_pk PRIMARY KEY (pipe_id, data_store_id)
);--> statement-breakpoint
CREATE TABLE pipe_hooks (
	id uuid NOT NULL,
	workspace_id uuid NOT NULL,
	pipe_id text NOT NULL,
	hook text NOT NULL,
	enabled boolean NOT NULL,
	url text NOT NULL,
	timeout_seconds integer NOT NULL,
	without_answer text NOT NULL,
	secret_encrypted text NOT NULL,
	previous_secret_encrypted text,
	previous_secret_until timestamp(3) with time zone,
	created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
	updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
	failing_since timestamp(3) with time zone,
	fault text,
	CONSTRAINT "pipe_hooks_pipeId_hook_unique" UNIQUE (pipe_id, hook),
	CONSTRAINT pipe_hooks_pkey PRIMARY KEY (id)
);--> statement-breakpoint
CREATE TABLE pipes (
	id text NOT NULL,
	workspace_id uuid NOT NULL,
	name text NOT NULL,
	source_http boolean DEFAULT false NOT NULL,
	key_template text NOT NULL,
	max_file_bytes bigint,
	allowed_types text[] DEFAULT '{}'::text[] NOT NULL,
	allowed_origins text[] DEFAULT '{}'::text[] NOT NULL,
	upload_expiry_seconds integer NOT NULL,
	created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
	updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
	deleted_at timestamp(3) with time zone,
	require_subject boolean DEFAULT false NOT NULL,
	object jsonb,
	verify_content boolean DEFAULT false NOT NULL,
	source_url boolean DEFAULT false NOT NULL,
	source_sftp boolean DEFAULT false NOT NULL,
	CONSTRAINT pipes_pkey PRIMARY KEY (id)
);--> statement-breakpoint
CREATE TABLE rate_limits (
	key text NOT NULL,
	tokens double precision NOT NULL,
	updated_at timestamp(3) with time zone NOT NULL,
	CONSTRAINT rate_limits_pkey PRIMARY KEY (key)
);--> statement-breakpoint
CREATE TABLE repaired_parts (
	file_id uuid NOT NULL,
	data_store_id uuid NOT NULL,
	number integer NOT NULL,
	size_bytes bigint NOT NULL,
	etag text NOT NULL,
	crc32 bigint NOT NULL,
	CONSTRAINT repaired_parts_file_id_data_store_id_number_pk PRIMARY KEY (file_id, data_store_id, number)
);--> statement-breakpoint
CREATE TABLE sealed_canary (
	id text NOT NULL,
	sealed text NOT NULL,
	CONSTRAINT sealed_canary_pkey PRIMARY KEY (id)
);--> statement-breakpoint
CREATE TABLE second_factors (
	user_id uuid NOT NULL,
	secret text NOT NULL,
	enabled_at timestamp(3) with time zone,
	last_step bigint DEFAULT 0 NOT NULL,
	recovery_hashes text[] DEFAULT '{}'::text[] NOT NULL,
	wrong_codes integer DEFAULT 0 NOT NULL,
	locked_at timestamp(3) with time zone,
	created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT second_factors_pkey PRIMARY KEY (user_id)
);--> statement-breakpoint
CREATE TABLE sender_keys (
	id uuid NOT NULL,
	workspace_id uuid NOT NULL,
	sender_id uuid NOT NULL,
	name text NOT NULL,
	algorithm text NOT NULL,
	public_key text NOT NULL,
	fingerprint text NOT NULL,
	subject text,
	last_used_at timestamp(3) with time zone,
	last_address text,
	created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
	addresses text[] DEFAULT '{}'::text[] NOT NULL,
	CONSTRAINT sender_keys_pkey PRIMARY KEY (id),
	CONSTRAINT "sender_keys_workspaceId_fingerprint_unique" UNIQUE (workspace_id, fingerprint)
);--> statement-breakpoint
CREATE TABLE senders (
	id uuid NOT NULL,
	workspace_id uuid NOT NULL,
	name text NOT NULL,
	token_hash text NOT NULL,
	token_last4 text NOT NULL,
	previous_token_hash text,
	previous_token_until timestamp(3) with time zone,
	request_count bigint DEFAULT 0 NOT NULL,
	last_used_at timestamp(3) with time zone,
	exposed_at timestamp(3) with time zone,
	exposed_origin text,
	exposed_noticed_at timestamp(3) with time zone,
	revoked_at timestamp(3) with time zone,
	created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
	rate_tokens double precision,
	rate_updated_at timestamp(3) with time zone,
	CONSTRAINT senders_pkey PRIMARY KEY (id),
	CONSTRAINT "senders_previousTokenHash_unique" UNIQUE (previous_token_hash),
	CONSTRAINT "senders_tokenHash_unique" UNIQUE (token_hash)
);--> statement-breakpoint
CREATE TABLE sessions (
	id uuid NOT NULL,
	user_id uuid NOT NULL,
	user_agent text,
	address inet,
	created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
	last_seen_at timestamp(3) with time zone DEFAULT now() NOT NULL,
	expires_at timestamp(3) with time zone NOT NULL,
	revoked_at timestamp(3) with time zone,
	workspace_id uuid,
	second_factor_at timestamp(3) with time zone,
	CONSTRAINT sessions_pkey PRIMARY KEY (id)
);--> statement-breakpoint
CREATE TABLE sftp_entries (
	file_id uuid NOT NULL,
	pipe_id text NOT NULL,
	sender_id uuid NOT NULL,
	subject text,
	folder text NOT NULL COLLATE pg_catalog."C",
	name text NOT NULL COLLATE pg_catalog."C",
	modified_at timestamp(3) with time zone,
	created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT sftp_entries_pkey PRIMARY KEY (file_id)
);--> statement-breakpoint
CREATE TABLE sftp_host_keys (
	id text NOT NULL,
	sealed text NOT NULL,
	public_key text NOT NULL,
	created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT sftp_host_keys_pkey PRIMARY KEY (id)
);--> statement-breakpoint
CREATE TABLE tallies (
	id uuid DEFAULT gen_random_uuid() NOT NULL,
	workspace_id uuid NOT NULL,
	pipe_id text NOT NULL,
	what text NOT NULL,
	at timestamp(3) with time zone NOT NULL,
	bytes bigint DEFAULT 0 NOT NULL,
	took_ms bigint DEFAULT 0 NOT NULL,
	CONSTRAINT tallies_pkey PRIMARY KEY (id)
);--> statement-breakpoint
CREATE TABLE tokens (
	id uuid NOT NULL,
	workspace_id uuid NOT NULL,
	pipe_id text NOT NULL,
	sender_id uuid NOT NULL,
	token_hash text NOT NULL,
	subject text,
	max_bytes bigint,
	max_files integer,
	files_created integer DEFAULT 0 NOT NULL,
	allowed_types text[] DEFAULT '{}'::text[] NOT NULL,
	key_prefix text DEFAULT ''::text NOT NULL,
	metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
	expires_at timestamp(3) with time zone NOT NULL,
	revoked_at timestamp(3) with time zone,
	created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
	object jsonb,
	batch text,
	link_id uuid,
	CONSTRAINT tokens_pkey PRIMARY KEY (id),
	CONSTRAINT "tokens_tokenHash_unique" UNIQUE (token_hash)
);--> statement-breakpoint
CREATE TABLE turned_off (
	workspace_id uuid NOT NULL,
	kind text NOT NULL,
	subject_id uuid NOT NULL,
	turned_off_at timestamp(3) with time zone NOT NULL,
	CONSTRAINT turned_off_workspace_id_kind_subject_id_pk PRIMARY KEY (workspace_id, kind, subject_id)
);--> statement-breakpoint
CREATE TABLE upload_links (
	id uuid NOT NULL,
	workspace_id uuid NOT NULL,
	pipe_id text NOT NULL,
	sender_id uuid NOT NULL,
	code_hash text NOT NULL,
	title text NOT NULL,
	message text NOT NULL,
	password_hash text,
	expires_at timestamp(3) with time zone,
	closed_at timestamp(3) with time zone,
	max_files integer,
	max_bytes bigint,
	files_created integer DEFAULT 0 NOT NULL,
	bytes_created bigint DEFAULT 0 NOT NULL,
	allowed_types text[] DEFAULT '{}'::text[] NOT NULL,
	created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
	deleted_at timestamp(3) with time zone,
	CONSTRAINT "upload_links_codeHash_unique" UNIQUE (code_hash),
	CONSTRAINT upload_links_pkey PRIMARY KEY (id),
	CONSTRAINT "upload_links_senderId_unique" UNIQUE (sender_id)
);--> statement-breakpoint
CREATE TABLE upload_tails (
	file_id uuid NOT NULL,
	offset_bytes bigint NOT NULL,
	bytes bytea NOT NULL,
	key text,
	CONSTRAINT upload_tails_file_id_offset_bytes_pk PRIMARY KEY (file_id, offset_bytes)
);--> statement-breakpoint
CREATE TABLE usage_days (
	workspace_id uuid NOT NULL,
	pipe_id text NOT NULL,
	day date NOT NULL,
	bytes bigint DEFAULT 0 NOT NULL,
	CONSTRAINT usage_days_workspace_id_day_pipe_id_pk PRIMARY KEY (workspace_id, day, pipe_id)
);--> statement-breakpoint
CREATE TABLE usage_months (
	workspace_id uuid NOT NULL,
	month text NOT NULL,
	used_bytes bigint DEFAULT 0 NOT NULL,
	reserved_bytes bigint DEFAULT 0 NOT NULL,
	noticed80_at timestamp(3) with time zone,
	noticed100_at timestamp(3) with time zone,
	CONSTRAINT usage_months_workspace_id_month_pk PRIMARY KEY (workspace_id, month)
);--> statement-breakpoint
CREATE TABLE users (
	id uuid NOT NULL,
	email text NOT NULL,
	name text,
	password_hash text,
	email_verified_at timestamp(3) with time zone,
	created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
	disabled_at timestamp(3) with time zone,
	entered_at timestamp(3) with time zone,
	last_seen_at timestamp(3) with time zone,
	CONSTRAINT users_pkey PRIMARY KEY (id)
);--> statement-breakpoint
CREATE TABLE webhook_outputs (
	id uuid NOT NULL,
	workspace_id uuid NOT NULL,
	pipe_id text,
	enabled boolean NOT NULL,
	url text NOT NULL,
	statuses text[] DEFAULT '{transferred}'::text[] NOT NULL,
	secret_encrypted text NOT NULL,
	previous_secret_encrypted text,
	previous_secret_until timestamp(3) with time zone,
	turned_off_reason text,
	turned_off_at timestamp(3) with time zone,
	failing_since timestamp(3) with time zone,
	created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
	updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
	further_pipe_id text,
	scope text GENERATED ALWAYS AS (COALESCE(pipe_id, further_pipe_id, (workspace_id)::text)) STORED NOT NULL,
	name text DEFAULT 'Webhook'::text NOT NULL,
	events text[] DEFAULT '{file.status_changed}'::text[] NOT NULL,
	headers_encrypted text,
	header_names text[] DEFAULT '{}'::text[] NOT NULL,
	missed_after timestamp(3) with time zone,
	CONSTRAINT "webhook_outputs_pipeId_unique" UNIQUE (pipe_id),
	CONSTRAINT webhook_outputs_pkey PRIMARY KEY (id)
);--> statement-breakpoint
CREATE TABLE workspaces (
	id uuid NOT NULL,
	name text NOT NULL,
	demo boolean DEFAULT false NOT NULL,
	inbox_key text NOT NULL,
	demo_sealed text,
	created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
	muted_alerts text[] DEFAULT '{}'::text[] NOT NULL,
	transfer_limit_bytes bigint,
	tokens_per_second integer,
	memory_share_percent integer,
	max_file_bytes bigint,
	require_second_factor boolean DEFAULT false NOT NULL,
	suspended_at timestamp(3) with time zone,
	suspended_reason text,
	delete_after timestamp(3) with time zone,
	webhook_delivered_at timestamp(3) with time zone,
	CONSTRAINT "workspaces_inboxKey_unique" UNIQUE (inbox_key),
	CONSTRAINT workspaces_pkey PRIMARY KEY (id)
);--> statement-breakpoint
ALTER TABLE account_keys ADD CONSTRAINT account_keys_workspace_id_workspaces_id_fk FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE alerts ADD CONSTRAINT alerts_workspace_id_workspaces_id_fk FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE audit_log ADD CONSTRAINT audit_log_workspace_id_workspaces_id_fk FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE batches ADD CONSTRAINT batches_workspace_id_workspaces_id_fk FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE configuration_locks ADD CONSTRAINT configuration_locks_workspace_id_workspaces_id_fk FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE counts ADD CONSTRAINT counts_workspace_id_workspaces_id_fk FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE data_stores ADD CONSTRAINT data_stores_workspace_id_workspaces_id_fk FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE deliveries ADD CONSTRAINT deliveries_workspace_id_workspaces_id_fk FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE email_links ADD CONSTRAINT email_links_user_id_users_id_fk FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE events ADD CONSTRAINT events_workspace_id_workspaces_id_fk FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE file_decisions ADD CONSTRAINT file_decisions_file_id_files_id_fk FOREIGN KEY (file_id) REFERENCES files(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE file_destinations ADD CONSTRAINT file_destinations_file_id_files_id_fk FOREIGN KEY (file_id) REFERENCES files(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE file_parts ADD CONSTRAINT file_parts_file_id_files_id_fk FOREIGN KEY (file_id) REFERENCES files(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE file_timeline ADD CONSTRAINT file_timeline_file_id_files_id_fk FOREIGN KEY (file_id) REFERENCES files(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE files ADD CONSTRAINT files_workspace_id_workspaces_id_fk FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE further_pipe_destinations ADD CONSTRAINT further_pipe_destinations_pipe_id_pipes_id_fk FOREIGN KEY (pipe_id) REFERENCES pipes(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE idempotency_keys ADD CONSTRAINT idempotency_keys_workspace_id_workspaces_id_fk FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE identities ADD CONSTRAINT identities_user_id_users_id_fk FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE imports ADD CONSTRAINT imports_file_id_files_id_fk FOREIGN KEY (file_id) REFERENCES files(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE inbox_messages ADD CONSTRAINT inbox_messages_workspace_id_workspaces_id_fk FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE invitations ADD CONSTRAINT invitations_workspace_id_workspaces_id_fk FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE members ADD CONSTRAINT members_user_id_users_id_fk FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE members ADD CONSTRAINT members_workspace_id_workspaces_id_fk FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE pipe_destinations ADD CONSTRAINT pipe_destinations_data_store_id_data_stores_id_fk FOREIGN KEY (data_store_id) REFERENCES data_stores(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE pipe_destinations ADD CONSTRAINT pipe_destinations_pipe_id_pipes_id_fk FOREIGN KEY (pipe_id) REFERENCES pipes(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE pipe_hooks ADD CONSTRAINT pipe_hooks_pipe_id_pipes_id_fk FOREIGN KEY (pipe_id) REFERENCES pipes(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE pipes ADD CONSTRAINT pipes_workspace_id_workspaces_id_fk FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE repaired_parts ADD CONSTRAINT repaired_parts_file_id_files_id_fk FOREIGN KEY (file_id) REFERENCES files(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE second_factors ADD CONSTRAINT second_factors_user_id_users_id_fk FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE sender_keys ADD CONSTRAINT sender_keys_sender_id_senders_id_fk FOREIGN KEY (sender_id) REFERENCES senders(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE senders ADD CONSTRAINT senders_workspace_id_workspaces_id_fk FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE sessions ADD CONSTRAINT sessions_user_id_users_id_fk FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE sftp_entries ADD CONSTRAINT sftp_entries_file_id_files_id_fk FOREIGN KEY (file_id) REFERENCES files(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE tokens ADD CONSTRAINT tokens_pipe_id_pipes_id_fk FOREIGN KEY (pipe_id) REFERENCES pipes(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE tokens ADD CONSTRAINT tokens_sender_id_senders_id_fk FOREIGN KEY (sender_id) REFERENCES senders(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE tokens ADD CONSTRAINT tokens_workspace_id_workspaces_id_fk FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE turned_off ADD CONSTRAINT turned_off_workspace_id_workspaces_id_fk FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE upload_links ADD CONSTRAINT upload_links_workspace_id_workspaces_id_fk FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE upload_tails ADD CONSTRAINT upload_tails_file_id_files_id_fk FOREIGN KEY (file_id) REFERENCES files(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE usage_days ADD CONSTRAINT usage_days_workspace_id_workspaces_id_fk FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE usage_months ADD CONSTRAINT usage_months_workspace_id_workspaces_id_fk FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE webhook_outputs ADD CONSTRAINT webhook_outputs_pipe_id_pipes_id_fk FOREIGN KEY (pipe_id) REFERENCES pipes(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE webhook_outputs ADD CONSTRAINT webhook_outputs_workspace_id_workspaces_id_fk FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE;--> statement-breakpoint
CREATE INDEX account_keys_created_by_index ON account_keys USING btree (created_by);--> statement-breakpoint
CREATE INDEX account_keys_workspace_id_id_index ON account_keys USING btree (workspace_id, id);--> statement-breakpoint
CREATE UNIQUE INDEX alerts_one_open ON alerts USING btree (workspace_id, kind, subject_id) WHERE (cleared_at IS NULL);--> statement-breakpoint
CREATE INDEX attempts_delivery_id_id_index ON attempts USING btree (delivery_id, id);--> statement-breakpoint
CREATE INDEX audit_log_workspace_id_id_index ON audit_log USING btree (workspace_id, id);--> statement-breakpoint
CREATE INDEX batches_to_complete ON batches USING btree (sealed_at) WHERE ((sealed_at IS NOT NULL) AND (completed_at IS NULL));--> statement-breakpoint
CREATE INDEX batches_workspace_id_index ON batches USING btree (workspace_id);--> statement-breakpoint
CREATE INDEX counts_by_age ON counts USING btree (span, at);--> statement-breakpoint
CREATE INDEX data_stores_rejecting ON data_stores USING btree (recheck_at) WHERE (rejecting_since IS NOT NULL);--> statement-breakpoint
CREATE INDEX data_stores_turned_off ON data_stores USING btree (id) WHERE (turned_off_at IS NOT NULL);--> statement-breakpoint
CREATE INDEX data_stores_workspace_id_id_index ON data_stores USING btree (workspace_id, id);--> statement-breakpoint
CREATE INDEX deliveries_by_event ON deliveries USING btree (event_id);--> statement-breakpoint
CREATE INDEX deliveries_by_file ON deliveries USING btree (file_id);--> statement-breakpoint
CREATE INDEX deliveries_by_pipe ON deliveries USING btree (pipe_id, id);--> statement-breakpoint
CREATE INDEX deliveries_by_pipe_state ON deliveries USING btree (pipe_id, state, id);--> statement-breakpoint
CREATE INDEX deliveries_by_workspace ON deliveries USING btree (workspace_id, id);--> statement-breakpoint
CREATE INDEX deliveries_by_workspace_state ON deliveries USING btree (workspace_id, state, id);--> statement-breakpoint
CREATE INDEX deliveries_due ON deliveries USING btree (webhook_output_id, next_attempt_at) WHERE (state = 'pending'::text);--> statement-breakpoint
CREATE INDEX email_links_user_id_index ON email_links USING btree (user_id);--> statement-breakpoint
CREATE INDEX events_file_id_index ON events USING btree (file_id);--> statement-breakpoint
CREATE INDEX events_missed ON events USING btree (pipe_id, id) WHERE (missed_status IS NOT NULL);--> statement-breakpoint
CREATE INDEX events_workspace_id_id_index ON events USING btree (workspace_id, id);--> statement-breakpoint
CREATE INDEX file_decisions_deferred ON file_decisions USING btree (deferred_until) WHERE (state = 'deferred'::text);--> statement-breakpoint
CREATE INDEX file_destinations_data_store_id_index ON file_destinations USING btree (data_store_id);--> statement-breakpoint
CREATE INDEX file_destinations_missing ON file_destinations USING btree (data_store_id, file_id) WHERE ((repair_at IS NOT NULL) OR (repair_attempts IS NOT NULL));--> statement-breakpoint
CREATE INDEX file_destinations_repairs ON file_destinations USING btree (data_store_id, repair_at) WHERE (repair_at IS NOT NULL);--> statement-breakpoint
CREATE INDEX file_destinations_to_abort ON file_destinations USING btree (file_id) WHERE abort_pending;--> statement-breakpoint
CREATE INDEX file_timeline_file_id_id_index ON file_timeline USING btree (file_id, id);--> statement-breakpoint
CREATE INDEX files_by_batch ON files USING btree (batch_id, id) WHERE (batch_id IS NOT NULL);--> statement-breakpoint
CREATE INDEX files_by_folder ON files USING btree (workspace_id, folder, id) WHERE (folder IS NOT NULL);--> statement-breakpoint
CREATE INDEX files_by_one_request ON files USING btree (id) WHERE ((status = 'uploading'::text) AND (protocol = 'http'::text));--> statement-breakpoint
CREATE INDEX files_by_pipe ON files USING btree (pipe_id, id);--> statement-breakpoint
CREATE INDEX files_by_pipe_status ON files USING btree (pipe_id, status, id);--> statement-breakpoint
CREATE INDEX files_by_sender ON files USING btree (sender_id, id);--> statement-breakpoint
CREATE INDEX files_by_workspace ON files USING btree (workspace_id, id);--> statement-breakpoint
CREATE INDEX files_by_workspace_status ON files USING btree (workspace_id, status, id);--> statement-breakpoint
CREATE INDEX files_erased ON files USING btree (erased_at) WHERE (erased_at IS NOT NULL);--> statement-breakpoint
CREATE INDEX files_open ON files USING btree (expires_at) WHERE (status = 'uploading'::text);--> statement-breakpoint
CREATE INDEX files_partials ON files USING btree (expires_at) WHERE ((concat = 'partial'::text) AND (retired_at IS NULL));--> statement-breakpoint
CREATE INDEX files_reserving ON files USING btree (last_byte_at) WHERE (reserved_bytes > 0);--> statement-breakpoint
CREATE INDEX files_to_complete ON files USING btree (created_at) WHERE ((status = 'transferring'::text) OR ((status = 'uploading'::text) AND (offset_bytes = length_bytes)));--> statement-breakpoint
CREATE INDEX files_uncounted ON files USING btree (id) WHERE (counted_bytes < offset_bytes);--> statement-breakpoint
CREATE INDEX further_pipe_destinations_data_store_id_index ON further_pipe_destinations USING btree (data_store_id);--> statement-breakpoint
CREATE INDEX idempotency_keys_created_at_index ON idempotency_keys USING btree (created_at);--> statement-breakpoint
CREATE INDEX identities_user_id_index ON identities USING btree (user_id);--> statement-breakpoint
CREATE INDEX imports_claimed ON imports USING btree (workspace_id) WHERE (claimed_until IS NOT NULL);--> statement-breakpoint
CREATE INDEX imports_due ON imports USING btree (workspace_id, due_at, file_id) WHERE (due_at IS NOT NULL);--> statement-breakpoint
CREATE INDEX inbox_messages_workspace_id_id_index ON inbox_messages USING btree (workspace_id, id);--> statement-breakpoint
CREATE UNIQUE INDEX invitations_one_for_each ON invitations USING btree (workspace_id, lower(email));--> statement-breakpoint
CREATE INDEX members_user_id_index ON members USING btree (user_id);--> statement-breakpoint
CREATE INDEX pipe_destinations_data_store_id_index ON pipe_destinations USING btree (data_store_id);--> statement-breakpoint
CREATE INDEX pipe_hooks_workspace_id_index ON pipe_hooks USING btree (workspace_id);--> statement-breakpoint
CREATE INDEX pipes_by_workspace ON pipes USING btree (workspace_id, created_at, id);--> statement-breakpoint
CREATE INDEX sender_keys_sender_id_id_index ON sender_keys USING btree (sender_id, id);--> statement-breakpoint
CREATE INDEX senders_workspace_id_id_index ON senders USING btree (workspace_id, id);--> statement-breakpoint
CREATE INDEX sessions_user_id_index ON sessions USING btree (user_id);--> statement-breakpoint
CREATE INDEX sftp_entries_by_age ON sftp_entries USING btree (created_at);--> statement-breakpoint
CREATE INDEX sftp_entries_by_path ON sftp_entries USING btree (pipe_id, sender_id, subject, folder, name, file_id);--> statement-breakpoint
CREATE INDEX tokens_expires_at_index ON tokens USING btree (expires_at);--> statement-breakpoint
CREATE INDEX tokens_pipe_id_id_index ON tokens USING btree (pipe_id, id);--> statement-breakpoint
CREATE INDEX tokens_sender_id_id_index ON tokens USING btree (sender_id, id);--> statement-breakpoint
CREATE INDEX tokens_workspace_id_id_index ON tokens USING btree (workspace_id, id);--> statement-breakpoint
CREATE INDEX upload_links_pipe_id_id_index ON upload_links USING btree (pipe_id, id);--> statement-breakpoint
CREATE INDEX upload_links_workspace_id_index ON upload_links USING btree (workspace_id);--> statement-breakpoint
CREATE INDEX usage_days_pipe_id_day_index ON usage_days USING btree (pipe_id, day);--> statement-breakpoint
CREATE UNIQUE INDEX users_email_unique ON users USING btree (lower(email));--> statement-breakpoint
CREATE INDEX webhook_outputs_scope_index ON webhook_outputs USING btree (scope);--> statement-breakpoint
CREATE INDEX webhook_outputs_workspace_id_index ON webhook_outputs USING btree (workspace_id);--> statement-breakpoint
CREATE UNIQUE INDEX workspaces_one_demo ON workspaces USING btree (demo) WHERE demo;--> statement-breakpoint
CREATE INDEX workspaces_with_memory_share ON workspaces USING btree (id) WHERE (memory_share_percent IS NOT NULL);--> statement-breakpoint
-- One table per month, by the time in the rows' ids. The first also has all older rows, and its indexes are named like those
-- of the months that the worker adds.
DO $$
DECLARE
	month text := to_char(now() AT TIME ZONE 'UTC', 'YYYY_MM');
	end_ms bigint := extract(epoch FROM date_trunc('month', now() AT TIME ZONE 'UTC') + interval '1 month') * 1000;
	end_id uuid := (lpad(to_hex(end_ms), 12, '0') || '70008000000000000000')::uuid;
	name text;
	index record;
BEGIN
	FOREACH name IN ARRAY ARRAY['file_timeline', 'events', 'deliveries', 'attempts'] LOOP
		EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (MINVALUE) TO (%L)', name || '_' || month, name, end_id);
		EXECUTE format('CREATE TABLE %I PARTITION OF %I DEFAULT', name || '_default', name);
		FOR index IN SELECT part.relname AS part, whole.relname AS whole FROM pg_index
			JOIN pg_class part ON part.oid = indexrelid JOIN pg_inherits ON inhrelid = part.oid JOIN pg_class whole ON whole.oid = inhparent
			WHERE indrelid = (name || '_' || month)::regclass AND NOT indisprimary LOOP
			EXECUTE format('ALTER INDEX %I RENAME TO %I', index.part, name || '_' || month || substr(index.whole, length(name) + 1));
		END LOOP;
	END LOOP;
END $$;--> statement-breakpoint
CREATE FUNCTION delete_deliveries() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN DELETE FROM deliveries WHERE event_id = OLD.id; RETURN NULL; END';--> statement-breakpoint
CREATE FUNCTION delete_attempts() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN DELETE FROM attempts WHERE delivery_id = OLD.id; RETURN NULL; END';--> statement-breakpoint
CREATE FUNCTION note_event_to_fan_out() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO events_to_fan_out VALUES (NEW.id) ON CONFLICT DO NOTHING; RETURN NULL; END';--> statement-breakpoint
-- For `takeLease`: a function sees what was committed before the statement that calls it got the lock of the file, and the
-- statement itself only what was committed before it began.
CREATE FUNCTION delete_staged(file uuid, from_bytes bigint) RETURNS void LANGUAGE plpgsql AS 'BEGIN DELETE FROM upload_tails WHERE file_id = file AND offset_bytes >= from_bytes; END';--> statement-breakpoint
CREATE TRIGGER attempts_go_with_their_delivery AFTER DELETE ON deliveries FOR EACH ROW EXECUTE FUNCTION delete_attempts();--> statement-breakpoint
CREATE TRIGGER deliveries_go_with_their_event AFTER DELETE ON events FOR EACH ROW EXECUTE FUNCTION delete_deliveries();--> statement-breakpoint
CREATE TRIGGER events_are_fanned_out AFTER INSERT ON events FOR EACH ROW WHEN (NOT new.fanned_out) EXECUTE FUNCTION note_event_to_fan_out();
