package ignore

// SecretLists returns the names of the lists that are searched.
func SecretLists() (lists [][]string) {
	for _, list := range [][]secretName{secretNames, secretPlaces} {
		var names []string
		for _, e := range list {
			names = append(names, e.name)
		}
		lists = append(lists, names)
	}
	return lists
}
