CREATE TABLE "counts" (
	"workspace_id" uuid NOT NULL,
	"span" text NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"pipe_id" text NOT NULL,
	"transferred" integer DEFAULT 0 NOT NULL,
	"failed" integer DEFAULT 0 NOT NULL,
	"expired" integer DEFAULT 0 NOT NULL,
	"canceled" integer DEFAULT 0 NOT NULL,
	"delivered" integer DEFAULT 0 NOT NULL,
	"undelivered" integer DEFAULT 0 NOT NULL,
	"bytes" bigint DEFAULT 0 NOT NULL,
	"durations" integer[] NOT NULL,
	CONSTRAINT "counts_workspace_id_span_at_pipe_id_pk" PRIMARY KEY("workspace_id","span","at","pipe_id")
);
--> statement-breakpoint
CREATE TABLE "tallies" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"workspace_id" uuid NOT NULL,
	"pipe_id" text NOT NULL,
	"what" text NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"bytes" bigint DEFAULT 0 NOT NULL,
	"took_ms" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
ALTER TABLE "counts" ADD CONSTRAINT "counts_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "counts_by_age" ON "counts" USING btree ("span","at");