"""The page kit of desk, requester site and worker site: access, navigation, tables, forms, charts."""
