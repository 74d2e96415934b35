"""Where files lie that are no rows: folders of this host, and the storage that all hosts share.

store.py     folders of files by name (releases, evaluations); single files that every host may need
bundles.py   states of a folder, published under the digest of their list of files
bucket.py    S3-compatible storage through django-storages
bucketprobe.py  which permission for a bucket is missing
outages.py   what a storage that does not answer raises, and how long a bucket is waited for
"""
