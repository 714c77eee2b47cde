"""When a schedule is due: cron expressions and plain phrases, in local time with daylight saving."""
