// a wall
textures/a/b
{
	qer_editorimage a.tga
	surfaceparm nomarks
	{
		map a.tga
		rgbGen identity
	}
	{
		map $lightmap
		blendFunc GL_DST_COLOR GL_ZERO
	}
}
